// A debug build: the code of tiles that the kernel does not use is part of it.
//! nvcc: -G
//! stdout| 68 5
#include <cooperative_groups.h>

#include <cstdio>

__device__ int out[64];

__global__ void reverse(int v) {
  __shared__ int s[64];
  auto block = cooperative_groups::this_thread_block();
  s[threadIdx.x] = v + threadIdx.x;
  block.sync();
  out[threadIdx.x] = s[63 - threadIdx.x];
}

int main() {
  int v[64];
  reverse<<<1, 64>>>(5);
  cudaMemcpyFromSymbol(v, out, sizeof v);
  std::printf("%d %d\n", v[0], v[63]);
  return 0;
}
