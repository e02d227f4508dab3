// Pinned and mapped host memory: as the target of copies, and as what a kernel writes itself.
//! stdout| pinned 12
//! stdout| mapped 0 3 6 9
//! stdout| registered 5
#include <cstdio>
#include <vector>

__global__ void triple(int* v) { v[threadIdx.x] = 3 * threadIdx.x; }

int main() {
  int *pinned, *device, *mapped, *view;
  cudaMallocHost(&pinned, 8 * sizeof(int));
  cudaMalloc(&device, 8 * sizeof(int));
  triple<<<1, 8>>>(device);
  cudaMemcpyAsync(pinned, device, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaStreamSynchronize(0);
  std::printf("pinned %d\n", pinned[4]);
  cudaHostAlloc(&mapped, 4 * sizeof(int), cudaHostAllocMapped);
  cudaHostGetDevicePointer(&view, mapped, 0);
  triple<<<1, 4>>>(view);
  cudaDeviceSynchronize();
  std::printf("mapped %d %d %d %d\n", mapped[0], mapped[1], mapped[2], mapped[3]);
  std::vector<int> usual(4096, 5);
  cudaHostRegister(usual.data(), usual.size() * sizeof(int), cudaHostRegisterDefault);
  cudaMemcpyAsync(device, usual.data(), 8 * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(pinned, device, 8 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaHostUnregister(usual.data());
  std::printf("registered %d\n", pinned[7]);
  cudaFreeHost(pinned);
  cudaFreeHost(mapped);
  cudaFree(device);
  return 0;
}
