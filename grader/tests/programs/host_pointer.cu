// A pointer of the host given to a kernel: the first mistake everyone makes.
//! case faulty
//! gpu: undefined
//! stdout| failed: 1
//! check: memory 1
//! case mended
//! stdout| failed: 0
#include <cstdio>
#include <cstring>
#include <vector>

__global__ void increment(int* v) { v[threadIdx.x] += 1; }

int main(int, char** argv) {
  std::vector<int> host(32, 0);
  int* v = host.data();
  if (std::strcmp(argv[1], "mended") == 0) {
    cudaMalloc(&v, 32 * sizeof(int));
    cudaMemcpy(v, host.data(), 32 * sizeof(int), cudaMemcpyHostToDevice);
  }
  increment<<<1, 32>>>(v);
  std::printf("failed: %d\n", cudaDeviceSynchronize() != cudaSuccess);
  return 0;
}
