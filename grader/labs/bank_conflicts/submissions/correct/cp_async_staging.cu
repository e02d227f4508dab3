// cp.async copies the tiles without registers, word by word: rows are padded or permuted, so that
// 16 bytes are not contiguous in shared memory.
#include <cuda_pipeline.h>

__global__ void row_scan(const int* in, int* out, int n) {
  __shared__ int tile[kBlock][33];
  int first = kBlock * blockIdx.x;
  int words = 32 * min(kBlock, n - first);
  for (int j = threadIdx.x; j < words; j += kBlock)
    __pipeline_memcpy_async(&tile[j / 32][j % 32], &in[32 * first + j], sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  int* own = tile[threadIdx.x];
  if (32 * int(threadIdx.x) < words) {
#pragma unroll 4
    for (int c = 1; c < 32; ++c) own[c] += own[c - 1];
  }
  __syncthreads();
  for (int j = threadIdx.x; j < words; j += kBlock) out[32 * first + j] = tile[j / 32][j % 32];
}

__global__ void look_up(const int* table, const unsigned char* row, const int* column, int* out,
                        int n) {
  __shared__ int entries[256 * 32];
  for (int j = threadIdx.x; j < 256 * 32; j += kBlock)
    __pipeline_memcpy_async(entries + entry(j / 32, j % 32), table + j, 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) out[i] = entries[entry(row[i], column[i / 32])];
  }
}
