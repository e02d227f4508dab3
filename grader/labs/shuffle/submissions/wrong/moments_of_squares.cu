// verdict: D2 row_moments: result | failed | "10000 and a little noise"
// verdict: D2 row_moments: sectors | failed | "counts once the result is right"
// The mean of the squares minus the square of the mean.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
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
