// Stream-ordered allocation, and functions of the host in a stream's order.
//! stdout| host function sees 64
//! stdout| callback: no error
//! stdout| result 128
#include <cstdio>

__global__ void twice(int* v) { *v *= 2; }

int main() {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int *v, *host;
  cudaMallocHost(&host, sizeof(int));
  *host = 32;
  cudaMallocAsync(&v, sizeof(int), stream);
  cudaMemcpyAsync(v, host, sizeof(int), cudaMemcpyHostToDevice, stream);
  twice<<<1, 1, 0, stream>>>(v);
  cudaMemcpyAsync(host, v, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(
      stream,
      [](void* p) { std::printf("host function sees %d\n", *static_cast<int*>(p)); }, host);
  twice<<<1, 1, 0, stream>>>(v);
  cudaMemcpyAsync(host, v, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t status, void*) {
        std::printf("callback: %s\n", cudaGetErrorString(status));
      },
      nullptr, 0);
  cudaFreeAsync(v, stream);
  cudaStreamSynchronize(stream);
  std::printf("result %d\n", *host);
  cudaFreeHost(host);
  cudaStreamDestroy(stream);
  return 0;
}
