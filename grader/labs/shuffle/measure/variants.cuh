// Variants to compare the lab's kernels with.
#pragma once

#include "../../../../solutions/shuffle/shuffle.cu"

namespace variant {

// Every lane adds to a word of shared memory by compare and swap; then one thread adds to the total.
__global__ void lanes_to_block(const float* in, float* total, int n) {
  __shared__ float sum;
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (i < n) atomicAdd(&sum, in[i]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

// Only one lane of each warp adds.
__global__ void warps_to_block(const float* in, float* total, int n) {
  __shared__ float sum;
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  float mine = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(&sum, mine);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

// C1 by hand for integers, as ptxas optimises it anyway.
__global__ void int_by_warps(const int* in, int* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int sum = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(total, sum);
}

// C3 as given: one addition per lane.
__global__ void add_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&totals[key[i]], value[i]);
}

// Counts of 256 values, 64 elements per thread, with one level of counters and with two.
constexpr int kBins = 256, kShare = 64 * kBlock;

__global__ void count_one_level(const int* key, int* bins, int n) {
  int end = min(n, kShare * (int(blockIdx.x) + 1));
  for (int i = kShare * blockIdx.x + threadIdx.x; i < end; i += kBlock) {
    atomicAdd(&bins[key[i] % kBins], 1);
  }
}

__global__ void count_two_levels(const int* key, int* bins, int n) {
  __shared__ int mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  int end = min(n, kShare * (int(blockIdx.x) + 1));
  for (int i = kShare * blockIdx.x + threadIdx.x; i < end; i += kBlock) {
    atomicAdd(&mine[key[i] % kBins], 1);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// D2 in two passes over memory, and by the sum of squares (wrong if the mean is large).
__global__ void moments_twice(const float* in, float* mean, float* variance, int rows,
                              int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int c = lane; c < columns; c += kWarpSize) sum += in[row * columns + c];
  float middle = butterfly(sum, Sum()) / columns;
  for (int c = lane; c < columns; c += kWarpSize) {
    float distance = in[row * columns + c] - middle;
    squares += distance * distance;
  }
  squares = butterfly(squares, Sum());
  if (lane == 0) mean[row] = middle, variance[row] = squares / columns;
}

__global__ void moments_of_squares(const float* in, float* mean, float* variance, int rows,
                                   int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int c = lane; c < columns; c += kWarpSize) {
    float x = in[row * columns + c];
    sum += x;
    squares += x * x;
  }
  sum = butterfly(sum, Sum()) / columns;
  squares = butterfly(squares, Sum()) / columns;
  if (lane == 0) mean[row] = sum, variance[row] = squares - sum * sum;
}

// D2 by Welford's update alone, with a division per element.
__global__ void moments_one_by_one(const float* in, float* mean, float* variance, int rows,
                                   int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  Moments all = {0, 0, 0};
  for (int c = lane; c < columns; c += kWarpSize) {
    float x = in[row * columns + c], delta = x - all.mean;
    all.count += 1;
    all.mean += delta / all.count;
    all.squares += delta * (x - all.mean);
  }
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    all = merged(all,
                 {__shfl_down_sync(kAll, all.count, step), __shfl_down_sync(kAll, all.mean, step),
                  __shfl_down_sync(kAll, all.squares, step)});
  }
  if (lane == 0) mean[row] = all.mean, variance[row] = all.squares / all.count;
}

// D3 with a warp per row, for rows of up to 1024 elements: no barrier, no shared memory.
__global__ void softmax_by_warps(const float* in, float* out, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float kept[32], top = -INFINITY, sum = 0;
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    if (k * kWarpSize >= columns) break;
    int c = k * kWarpSize + lane;
    kept[k] = c < columns ? in[size_t(row) * columns + c] : -INFINITY;
    top = fmaxf(top, kept[k]);
  }
  top = butterfly(top, Max());
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    if (k * kWarpSize >= columns) break;
    sum += kept[k] = __expf(kept[k] - top);
  }
  float scale = 1 / butterfly(sum, Sum());
#pragma unroll
  for (int k = 0; k < 32; ++k) {
    int c = k * kWarpSize + lane;
    if (c < columns) out[size_t(row) * columns + c] = kept[k] * scale;
  }
}

// D3 with the row read three times.
__global__ void softmax_thrice(const float* in, float* out, int columns) {
  __shared__ float tops[kBlock / kWarpSize], sums[kBlock / kWarpSize];
  const float* row = in + size_t(blockIdx.x) * columns;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock) top = fmaxf(top, row[c]);
  top = of_block(top, Max(), tops);
  for (int c = threadIdx.x; c < columns; c += kBlock) sum += __expf(row[c] - top);
  float scale = 1 / of_block(sum, Sum(), sums);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[size_t(blockIdx.x) * columns + c] = __expf(row[c] - top) * scale;
}

// D4 with the row read three times.
__global__ void layer_norm_thrice(const float* in, const float* weight, const float* bias,
                                  float* out, int columns, float epsilon) {
  __shared__ float sums[kBlock / kWarpSize], all[kBlock / kWarpSize];
  const float* row = in + size_t(blockIdx.x) * columns;
  float sum = 0, squares = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock) sum += row[c];
  float mean = of_block(sum, Sum(), sums) / columns;
  for (int c = threadIdx.x; c < columns; c += kBlock) squares += (row[c] - mean) * (row[c] - mean);
  float scale = rsqrtf(of_block(squares, Sum(), all) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[size_t(blockIdx.x) * columns + c] = (row[c] - mean) * scale * weight[c] + bias[c];
}

// A sum of 2 * blockDim.x elements per block by a tree in shared memory, for any power of two; B1's
// has 256 threads only.
__global__ void tree(const float* in, float* out, int n) {
  __shared__ float sums[1024];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * blockDim.x + t;
  sums[t] = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  __syncthreads();
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

}  // namespace variant
