// A kernel that works on memory which has been given back.
//! case faulty
//! gpu: undefined
//! stdout| done
//! check: memory 1
//! case mended
//! stdout| done
#include <cstdio>
#include <cstring>

__global__ void increment(int* v) { ++v[threadIdx.x]; }

int main(int, char** argv) {
  const bool faulty = std::strcmp(argv[1], "faulty") == 0;
  int* v;
  cudaMalloc(&v, 32 * sizeof(int));
  cudaMemset(v, 0, 32 * sizeof(int));
  if (faulty) cudaFree(v);
  increment<<<1, 32>>>(v);
  if (!faulty) cudaFree(v);
  cudaDeviceSynchronize();
  std::printf("done\n");
  return 0;
}
