// Streams and events: halves of an array in two streams that wait for each other, timed.
//! stdout| before: not ready or done 1
//! stdout| sum 523776 of 1024
//! stdout| elapsed at least 0: 1
//! stdout| done: no error, no error
#include <cstdio>
#include <vector>

__global__ void fill(int* v, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  v[i] = first + i;
}

__global__ void add_up(const int* v, int n, int* sum) {
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine += v[i];
  atomicAdd(sum, mine);
}

int main() {
  int *v, *sum, result = 0;
  cudaMalloc(&v, 1024 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEvent_t start, ready, stop;
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
  cudaEventCreate(&stop);
  cudaEventRecord(start, a);
  fill<<<2, 256, 0, a>>>(v, 0);
  fill<<<2, 256, 0, b>>>(v + 512, 512);
  cudaEventRecord(ready, b);
  const cudaError_t state = cudaStreamQuery(a);
  std::printf("before: not ready or done %d\n", state == cudaSuccess || state == cudaErrorNotReady);
  cudaStreamWaitEvent(a, ready, 0);
  cudaMemsetAsync(sum, 0, sizeof(int), a);
  add_up<<<1, 128, 0, a>>>(v, 1024, sum);
  cudaMemcpyAsync(&result, sum, sizeof(int), cudaMemcpyDeviceToHost, a);
  cudaEventRecord(stop, a);
  cudaEventSynchronize(stop);
  float ms = -1;
  cudaEventElapsedTime(&ms, start, stop);
  std::printf("sum %d of 1024\n", result);
  std::printf("elapsed at least 0: %d\n", ms >= 0);
  const cudaError_t first = cudaStreamQuery(a), second = cudaEventQuery(ready);
  std::printf("done: %s, %s\n", cudaGetErrorString(first), cudaGetErrorString(second));
  cudaEventDestroy(start);
  cudaEventDestroy(ready);
  cudaEventDestroy(stop);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(v);
  cudaFree(sum);
  return result != 523776;
}
