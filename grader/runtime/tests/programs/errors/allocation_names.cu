// A message names an allocation by the variable whose address the call gets, and by the call's line.
//! case alone
//! stderr~ offset 400 of `alone` (allocated on line 43): 4 bytes past its end
//! gpu: undefined
//! check: memory 1
//! case second
//! stderr~ offset 400 of `second` (allocated on line 44)
//! gpu: undefined
//! check: memory 1
//! case cast
//! stderr~ offset 400 of `pair.cast` (allocated on line 45)
//! gpu: undefined
//! check: memory 1
//! case managed
//! stderr~ offset 400 of `list[1]` (allocated on line 46)
//! gpu: undefined
//! check: memory 1
//! case continued
//! stderr~ offset 400 of `continued` (allocated on line 47)
//! gpu: undefined
//! check: memory 1
//! case helper
//! stderr~ offset 400 of the allocation of line 37: 4 bytes past its end
//! gpu: undefined
//! check: memory 1
#include <cstdio>
#include <string>

__global__ void write_past(int* p) { p[100] = 1; }

struct Pair {
  int* cast;
};

// The variable of this line is not the one that the caller knows.
cudaError_t make(int** result) {
  return cudaMalloc(result, 400);
}

int main(int, char** argv) {
  int *alone, *first, *second, *list[2], *continued, *helper;
  Pair pair;
  cudaMalloc(&alone, 400);
  cudaMalloc(&first, 400), cudaMalloc(&second, 400);
  cudaMalloc((void**)&pair.cast, 400);
  cudaMallocManaged(&list[1], 400);
  cudaMalloc(
      reinterpret_cast<void**>(&continued), 400);
  make(&helper);
  const std::string what = argv[1];
  int* const chosen = what == "alone"       ? alone
                      : what == "second"    ? second
                      : what == "cast"      ? pair.cast
                      : what == "managed"   ? list[1]
                      : what == "continued" ? continued
                                            : helper;
  write_past<<<1, 1>>>(chosen);
  cudaDeviceSynchronize();
}
