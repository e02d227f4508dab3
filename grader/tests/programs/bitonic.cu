// A bitonic sort in shared memory: compare and exchange across every distance, a barrier each time.
//! stdout| 1024 numbers sorted: 1
#include <algorithm>
#include <cstdio>
#include <vector>

__global__ void sort(unsigned* v) {
  __shared__ unsigned s[1024];
  const unsigned t = threadIdx.x;
  s[t] = v[t];
  for (unsigned size = 2; size <= 1024; size *= 2)
    for (unsigned d = size / 2; d > 0; d /= 2) {
      __syncthreads();
      const unsigned other = t ^ d;
      if (other > t) {
        const unsigned a = s[t], b = s[other];
        if ((a > b) == ((t & size) == 0)) s[t] = b, s[other] = a;
      }
    }
  __syncthreads();
  v[t] = s[t];
}

int main() {
  std::vector<unsigned> v(1024), got(1024);
  unsigned x = 5;
  for (unsigned& i : v) i = x = x * 1664525u + 1013904223u;
  unsigned* device;
  cudaMalloc(&device, 4096);
  cudaMemcpy(device, v.data(), 4096, cudaMemcpyHostToDevice);
  sort<<<1, 1024>>>(device);
  cudaMemcpy(got.data(), device, 4096, cudaMemcpyDeviceToHost);
  std::sort(v.begin(), v.end());
  std::printf("1024 numbers sorted: %d\n", v == got);
  return v != got;
}
