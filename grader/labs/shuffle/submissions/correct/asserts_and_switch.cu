// Assertions, a switch over the steps, active masks where whole warps run, and widths of a shuffle:
// a warp's sum as four sums of eight lanes.
#include <cassert>

template <class T>
__device__ T warp_reduce_sum(T v) {
  assert(__activemask() == kAll);
  for (int step = 4; step > 0; step >>= 1) v += __shfl_down_sync(kAll, v, step, 8);
  v += __shfl_down_sync(kAll, v, 8);
  return v + __shfl_sync(kAll, v, 16);
}

__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  assert(blockDim.x % kWarpSize == 0 && columns > 0);
  if (row >= rows) return;
  const float* x = in + row * columns;
  float least = INFINITY, most = -INFINITY;
  int left = columns - lane, c = lane;
  for (; left > 3 * kWarpSize; left -= 4 * kWarpSize, c += 4 * kWarpSize)
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      least = fminf(least, x[c + k * kWarpSize]);
      most = fmaxf(most, x[c + k * kWarpSize]);
    }
  switch (left > 0 ? ceil_div(left, kWarpSize) : 0) {
    case 3:
      least = fminf(least, x[c + 2 * kWarpSize]), most = fmaxf(most, x[c + 2 * kWarpSize]);
      [[fallthrough]];
    case 2:
      least = fminf(least, x[c + kWarpSize]), most = fmaxf(most, x[c + kWarpSize]);
      [[fallthrough]];
    case 1:
      least = fminf(least, x[c]), most = fmaxf(most, x[c]);
      break;
    default:
      break;
  }
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    least = fminf(least, __shfl_xor_sync(kAll, least, step));
    most = fmaxf(most, __shfl_xor_sync(kAll, most, step));
  }
  if (lane == 0) low[row] = least, high[row] = most;
}
