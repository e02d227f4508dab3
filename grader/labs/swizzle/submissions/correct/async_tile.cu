// Asynchronous copies of 16 bytes move the tile to its swizzled places in two halves: the kernel
// weighs the first half while the second is being copied.
#include <cuda_pipeline.h>

template <bool kTranspose>
__global__ void __launch_bounds__(256)
    weigh_swizzled(const uint4* in, const unsigned* weight, uint4* out) {
  __shared__ uint4 tile[kRows][kChunks];
  in += kRows * kChunks * blockIdx.x;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    int row = 32 * half + threadIdx.x / kChunks, chunk = threadIdx.x % kChunks;
    __pipeline_memcpy_async(&tile[row][chunk ^ row % 8], &in[kChunks * row + chunk], 16);
    __pipeline_commit();
  }
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint4 sum[kChunks / 2] = {};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    if (half == 0)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kChunks / 2; ++k)
#pragma unroll
      for (int s = 2 * half; s < 2 * half + 2; ++s) {
        int row = 16 * s + lane % 16, chunk = 2 * k + lane / 16;
        uint4 m = load_matrices<kTranspose>(&tile[row][chunk ^ row % 8]);
        add_weighted(sum[k], weight[4 * warp + s], m);
      }
  }
#pragma unroll
  for (int k = 0; k < kChunks / 2; ++k)
    out[((kWarps * blockIdx.x + warp) * (kChunks / 2) + k) * 32 + lane] = sum[k];
}
