// verdict: D3 softmax: result | failed | "10000 and a little noise"
// verdict: D3 softmax: sectors | failed | "counts once the result is right"
// Without the maximum.
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float sums[kBlock / kWarpSize];
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock) sum += expf(in[blockIdx.x * columns + c]);
  sum = of_block(sum, Sum(), sums);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[blockIdx.x * columns + c] = expf(in[blockIdx.x * columns + c]) / sum;
}
