// What does not launch, how it is reported, and that it is forgotten afterwards.
//! stdout| 1025 threads: cudaErrorInvalidValue (invalid argument)
//! stdout| peek, get, get again: 1 1 0
//! stdout| no blocks: cudaErrorInvalidValue
//! stdout| too much shared memory: cudaErrorInvalidValue
//! stdout| copy to nowhere: cudaErrorInvalidValue
//! stdout| double free: cudaErrorInvalidValue
//! stdout| out of memory: cudaErrorMemoryAllocation
//! stdout| no such device: cudaErrorInvalidDevice
//! stdout| after all that a kernel still runs: 5
#include <cstdio>

__global__ void five(int* out) { *out = 5; }

int main() {
  int *out, result = 0;
  cudaMalloc(&out, sizeof(int));
  five<<<1, 1025>>>(out);
  const cudaError_t peek = cudaPeekAtLastError(), get = cudaGetLastError(),
                    again = cudaGetLastError();
  std::printf("1025 threads: %s (%s)\n", cudaGetErrorName(get), cudaGetErrorString(get));
  std::printf("peek, get, get again: %d %d %d\n", peek, get, again);
  five<<<0, 32>>>(out);
  std::printf("no blocks: %s\n", cudaGetErrorName(cudaGetLastError()));
  five<<<1, 32, 1 << 20>>>(out);
  std::printf("too much shared memory: %s\n", cudaGetErrorName(cudaGetLastError()));
  std::printf("copy to nowhere: %s\n",
              cudaGetErrorName(cudaMemcpy(nullptr, out, 4, cudaMemcpyDeviceToHost)));
  int* twice;
  cudaMalloc(&twice, 4);
  cudaFree(twice);
  std::printf("double free: %s\n", cudaGetErrorName(cudaFree(twice)));
  void* huge;
  std::printf("out of memory: %s\n", cudaGetErrorName(cudaMalloc(&huge, size_t{1} << 50)));
  std::printf("no such device: %s\n", cudaGetErrorName(cudaSetDevice(99)));
  cudaGetLastError();
  five<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("after all that a kernel still runs: %d\n", result);
  return 0;
}
