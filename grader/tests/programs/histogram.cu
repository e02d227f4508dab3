// A histogram: atomics in shared memory, then one a bin in global memory.
//! stdout| 20000 letters: a 746 m 750 z 730, wrong 0
#include <cstdio>
#include <vector>

__global__ void count(const unsigned char* text, int n, unsigned* bins) {
  __shared__ unsigned own[26];
  for (int i = threadIdx.x; i < 26; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[text[i] - 'a'], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 26; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

int main() {
  const int n = 20000;
  std::vector<unsigned char> text(n);
  std::vector<unsigned> want(26, 0), got(26);
  unsigned x = 9;
  for (auto& c : text) {
    x = x * 1664525u + 1013904223u;
    c = static_cast<unsigned char>('a' + (x >> 16) % 26);
    ++want[c - 'a'];
  }
  unsigned char* in;
  unsigned* bins;
  cudaMalloc(&in, n);
  cudaMalloc(&bins, 26 * sizeof(unsigned));
  cudaMemset(bins, 0, 26 * sizeof(unsigned));
  cudaMemcpy(in, text.data(), n, cudaMemcpyHostToDevice);
  count<<<10, 128>>>(in, n, bins);
  cudaMemcpy(got.data(), bins, 26 * sizeof(unsigned), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < 26; ++i) wrong += want[i] != got[i];
  std::printf("%d letters: a %u m %u z %u, wrong %d\n", n, got[0], got[12], got[25], wrong);
  return wrong;
}
