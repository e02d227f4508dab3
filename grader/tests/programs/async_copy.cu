// cp.async through the pipeline primitives: two stages in flight, a tile of zeros at the end.
//! stdout| 7 tiles of 128: sum 383250, wrong 0
#include <cuda_pipeline.h>

#include <cstdio>
#include <vector>

__global__ void sum_tiles(const int4* in, int n, int tiles, int* out) {
  __shared__ int4 stage[2][32];
  const int t = threadIdx.x;
  auto fetch = [&](int tile) {
    const int i = tile * 32 + t;
    const int there = i < n ? 16 : 0;  // what lies beyond is filled with zeros
    __pipeline_memcpy_async(&stage[tile % 2][t], there ? &in[i] : in, 16, 16 - there);
    __pipeline_commit();
  };
  fetch(0);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) {
      fetch(tile + 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    const int4 v = stage[tile % 2][31 - t];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  const int n = 224, used = 219;
  std::vector<int> v(4 * n);
  for (int i = 0; i < 4 * n; ++i) v[i] = i;
  int4* in;
  int *out, sums[32], sum = 0, wrong = 0;
  cudaMalloc(&in, n * sizeof(int4));
  cudaMalloc(&out, sizeof sums);
  cudaMemcpy(in, v.data(), n * sizeof(int4), cudaMemcpyHostToDevice);
  sum_tiles<<<1, 32>>>(in, used, 7, out);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  for (int t = 0; t < 32; ++t) {
    int want = 0;
    for (int tile = 0; tile < 7; ++tile)
      for (int k = 0; k < 4; ++k) {
        const int i = tile * 32 + 31 - t;
        if (i < used) want += v[4 * i + k];
      }
    wrong += sums[t] != want;
    sum += sums[t];
  }
  std::printf("7 tiles of 128: sum %d, wrong %d\n", sum, wrong);
  return wrong;
}
