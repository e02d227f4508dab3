// verdict: D1 row_range: result | failed | "all equal"
// verdict: D1 row_range: shared | failed | "counts once the result is right"
// As if 0 were neutral.
__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float least = 0, most = 0;
  for (int c = lane; c < columns; c += kWarpSize) {
    least = fminf(least, in[row * columns + c]);
    most = fmaxf(most, in[row * columns + c]);
  }
  least = -butterfly(-least, Max());
  most = butterfly(most, Max());
  if (lane == 0) low[row] = least, high[row] = most;
}
