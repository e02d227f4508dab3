// verdict: D2 row_moments: result | failed | "variance["
// verdict: D2 row_moments: sectors | failed | "counts once the result is right"
// Divides by n - 1, and forgets that a row may have one element.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  Moments m = {0, 0, 0};
  for (int c = lane; c < columns; c += kWarpSize) m = merged(m, {1, in[row * columns + c], 0});
  for (int step = 16; step > 0; step /= 2)
    m = merged(m, {__shfl_down_sync(kAll, m.count, step), __shfl_down_sync(kAll, m.mean, step),
                   __shfl_down_sync(kAll, m.squares, step)});
  if (lane == 0) mean[row] = m.mean, variance[row] = m.squares / (m.count - 1);
}
