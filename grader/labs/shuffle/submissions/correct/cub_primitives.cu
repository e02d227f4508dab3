// CUB: WarpReduce in B2 and for the second level of C2, BlockReduce for a row's maximum, sum and
// moments, with a custom operator.
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>

template <class T>
__device__ T warp_reduce_sum(T v) {
  typename cub::WarpReduce<T>::TempStorage none;  // of a whole warp: empty, since it shuffles
  return cub::WarpReduce<T>(none).Sum(v);
}

__global__ void sum_by_blocks(const float* in, float* total, int n) {
  __shared__ typename cub::BlockReduce<float, kBlock>::TempStorage temp;
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = cub::BlockReduce<float, kBlock>(temp).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

__global__ void softmax(const float* in, float* out, int columns) {
  constexpr int kKept = kLongest / kBlock;
  using Reduce = cub::BlockReduce<float, kBlock>;
  __shared__ typename Reduce::TempStorage temp[2];
  __shared__ float top, sum;
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  float x[kKept], mine = -INFINITY;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    x[k] = c < columns ? in[c] : -INFINITY;
    mine = fmaxf(mine, x[k]);
  }
  mine = Reduce(temp[0]).Reduce(mine, [](float a, float b) { return fmaxf(a, b); });
  if (threadIdx.x == 0) top = mine;
  __syncthreads();
  mine = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) mine += x[k] = expf(x[k] - top);
  mine = Reduce(temp[1]).Sum(mine);
  if (threadIdx.x == 0) sum = mine;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (int c = k * kBlock + threadIdx.x; c < columns) out[c] = x[k] / sum;
}

__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out,
                           int columns, float epsilon) {
  constexpr int kKept = kLongest / kBlock;
  using Reduce = cub::BlockReduce<Moments, kBlock>;
  __shared__ typename Reduce::TempStorage temp;
  __shared__ float mean, scale;
  in += blockIdx.x * columns;
  out += blockIdx.x * columns;
  float x[kKept];
  Moments m = {0, 0, 0};
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    if (c < columns) m = merged(m, {1, x[k] = in[c], 0});
  }
  m = Reduce(temp).Reduce(m, [](Moments a, Moments b) { return merged(a, b); });
  if (threadIdx.x == 0) mean = m.mean, scale = rsqrtf(m.squares / m.count + epsilon);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (int c = k * kBlock + threadIdx.x; c < columns)
      out[c] = (x[k] - mean) * scale * weight[c] + bias[c];
}
