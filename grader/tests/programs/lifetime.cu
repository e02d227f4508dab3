// A device reset, a stream of one's own for each host thread, kernels with launch bounds, and many
// small allocations.
//! stdout| 300 allocations apart and aligned: 1
//! stdout| bounded 7 7 7
//! stdout| per-thread stream 41
//! stdout| after a reset: no error, 9
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

__global__ void __launch_bounds__(64, 4) fill(int* v, int value) { v[threadIdx.x] = value; }

int main() {
  std::vector<char*> all(300);
  for (size_t i = 0; i < all.size(); ++i) cudaMalloc(&all[i], 1 + 7 * i);
  bool apart = true;
  std::vector<char*> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < all.size(); ++i) {
    apart &= reinterpret_cast<uintptr_t>(sorted[i]) % 256 == 0;
    if (i > 0) apart &= sorted[i] != sorted[i - 1];
  }
  for (char* p : all) cudaFree(p);
  std::printf("300 allocations apart and aligned: %d\n", apart);

  int *v, host[64];
  cudaMalloc(&v, sizeof host);
  fill<<<1, 64>>>(v, 7);
  cudaMemcpy(host, v, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("bounded %d %d %d\n", host[0], host[31], host[63]);
  fill<<<1, 64, 0, cudaStreamPerThread>>>(v, 41);
  cudaMemcpyAsync(host, v, sizeof host, cudaMemcpyDeviceToHost, cudaStreamPerThread);
  cudaStreamSynchronize(cudaStreamPerThread);
  std::printf("per-thread stream %d\n", host[63]);

  cudaDeviceReset();
  const cudaError_t error = cudaMalloc(&v, sizeof host);
  fill<<<1, 64>>>(v, 9);
  cudaMemcpy(host, v, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("after a reset: %s, %d\n", cudaGetErrorString(error), host[5]);
  return 0;
}
