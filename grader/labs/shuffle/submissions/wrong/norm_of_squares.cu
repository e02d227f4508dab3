// verdict: D4 layer_norm: result | failed | "In row"
// verdict: D4 layer_norm: sectors | failed | "counts once the result is right"
// The variance as the mean of the squares minus the square of the mean: below zero on a bad day.
__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out,
                           int columns, float epsilon) {
  __shared__ float sums[kBlock / kWarpSize], squares[kBlock / kWarpSize];
  float sum = 0, square = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock) {
    float x = in[blockIdx.x * columns + c];
    sum += x;
    square += x * x;
  }
  float mean = of_block(sum, Sum(), sums) / columns;
  float variance = of_block(square, Sum(), squares) / columns - mean * mean;
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[blockIdx.x * columns + c] =
        (in[blockIdx.x * columns + c] - mean) * rsqrtf(variance + epsilon) * weight[c] + bias[c];
}
