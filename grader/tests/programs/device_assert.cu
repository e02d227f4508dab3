// assert() in a kernel: which thread, which line, and an error that stays.
//! stdout| device-side assert triggered
//! status: 1
#include <cassert>
#include <cstdio>

__global__ void positive(const int* v) { assert(v[threadIdx.x] >= 0); }

int main() {
  const int host[4] = {3, 1, -1, 5};
  int* v;
  cudaMalloc(&v, sizeof host);
  cudaMemcpy(v, host, sizeof host, cudaMemcpyHostToDevice);
  positive<<<1, 4>>>(v);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
