// What kernels print, between what the program prints; what nobody waits for is lost.
#include <cstdio>

#include <cuda_runtime.h>

__global__ void say(int n) { printf("kernel %d, thread %d\n", n, threadIdx.x); }

int main() {
  say<<<1, 2>>>(1);
  std::printf("launched 1\n");
  say<<<1, 1>>>(2);
  std::printf("launched 2\n");
  cudaDeviceSynchronize();
  std::printf("waited\n");
  say<<<1, 1>>>(3);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventRecord(event);
  std::printf("recorded\n");
  cudaEventSynchronize(event);
  say<<<1, 1>>>(4);
  int* p;
  cudaMalloc(&p, 4);
  std::printf("allocated\n");
  cudaFree(p);
  say<<<1, 1>>>(5);
  std::printf("done\n");
  return 0;
}
