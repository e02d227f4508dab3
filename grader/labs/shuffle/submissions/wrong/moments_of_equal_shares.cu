// verdict: D2 row_moments: result | failed | "mean["
// verdict: D2 row_moments: sectors | failed | "counts once the result is right"
// Lanes' means are averaged as if every lane had as many elements.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  Moments m = {0, 0, 0};
  for (int c = lane; c < columns; c += kWarpSize) m = merged(m, {1, in[row * columns + c], 0});
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_down_sync(kAll, m.mean, step);
    float delta = other - m.mean;
    m.squares += __shfl_down_sync(kAll, m.squares, step) + delta * delta * m.count / 2;
    m.mean = (m.mean + other) / 2;
    m.count += m.count;
  }
  if (lane == 0) mean[row] = m.mean, variance[row] = m.squares / columns;
}
