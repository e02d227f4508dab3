// Calls that fail in a program that asks for no error. `check` names each with its line, and `run`
// says at the end which one the program has ignored.
//! case threads
//! stdout| done
//! stderr~ cudaLaunchKernel failed (invalid argument): 1025 threads per block, but `fill` may have at most 1024; the program never asked for this error (cudaGetLastError)
//! check: memory 1
//! case grid
//! stdout| done
//! stderr~ a launch of 0 x 1 x 1 blocks of 32 x 1 x 1 threads is empty
//! check: memory 1
//! case shared
//! stdout| done
//! stderr~ 1048576 bytes of dynamic shared memory per block; at most 49152 are possible
//! check: memory 1
//! case direction
//! stdout| done
//! stderr~ cudaMemcpy failed (invalid argument): the direction is cudaMemcpyHostToDevice, but the destination is host memory; the program ended as if it had not
//! check: memory 1
//! case long
//! stdout| done
//! stderr~ 404 bytes, but the source has 400
//! check: memory 1
//! case twice
//! stdout| done
//! stderr~ cudaFree failed (invalid argument): the program has freed
//! check: memory 1
//! case inside
//! stdout| done
//! stderr~ the pointer is to byte 4 of
//! check: memory 1
//! case asked
//! stdout| invalid argument
//! stdout| done
//! check: memory 1
//! case leak
//! stdout| done
//! check: memory 1
//! case kept
//! stdout| done
#include <cstdio>
#include <string>

__global__ void fill(int* a) { a[threadIdx.x] = 1; }

int main(int, char** argv) {
  const std::string what = argv[1];
  int *a, *b, host[101];
  cudaMalloc(&a, 400);
  cudaMemset(a, 0, 400);
  if (what == "threads" || what == "asked") fill<<<1, 1025>>>(a);
  if (what == "asked") std::puts(cudaGetErrorString(cudaGetLastError()));
  if (what == "grid") fill<<<0, 32>>>(a);
  if (what == "shared") fill<<<1, 32, 1 << 20>>>(a);
  if (what == "direction") cudaMemcpy(host, a, 400, cudaMemcpyHostToDevice);
  if (what == "long") cudaMemcpy(host, a, 404, cudaMemcpyDeviceToHost);
  if (what == "inside") cudaFree(a + 1);
  // A program that frees nothing has no leak: all its memory is needed until its end.
  if (what == "leak" || what == "kept")
    for (int i = 0; i < 3; ++i) cudaMalloc(&b, 4000);
  if (what == "twice" || what == "leak") cudaFree(a);
  if (what == "twice") cudaFree(a);
  std::puts("done");
  return 0;
}
