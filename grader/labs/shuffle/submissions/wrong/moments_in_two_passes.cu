// verdict: D2 row_moments: sectors | failed | "One pass"
// half right
// Right, and every sector twice.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  float sum = 0, squares = 0;
  for (int c = lane; c < columns; c += kWarpSize) sum += in[row * columns + c];
  sum = butterfly(sum, Sum()) / columns;
  for (int c = lane; c < columns; c += kWarpSize)
    squares += (in[row * columns + c] - sum) * (in[row * columns + c] - sum);
  squares = butterfly(squares, Sum()) / columns;
  if (lane == 0) mean[row] = sum, variance[row] = squares;
}
