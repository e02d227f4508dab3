// A kernel that faults: the error comes with the next call that waits, and stays.
//! stdout| launch: no error
//! stdout| wait: an illegal memory access was encountered
//! stdout| malloc after it: an illegal memory access was encountered
//! status: 1
//! check: memory 1
#include <cstdio>

__global__ void wild(int* p) { p[threadIdx.x] = 1; }

int main() {
  wild<<<1, 32>>>(nullptr);
  std::printf("launch: %s\n", cudaGetErrorString(cudaGetLastError()));
  const cudaError_t wait = cudaDeviceSynchronize();
  std::printf("wait: %s\n", cudaGetErrorString(wait));
  void* p;
  std::printf("malloc after it: %s\n", cudaGetErrorString(cudaMalloc(&p, 4)));
  return wait != cudaSuccess;
}
