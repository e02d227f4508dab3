// verdict: D3 softmax: result | failed | "nan"
// verdict: D3 softmax: sectors | failed | "counts once the result is right"
// The online way; lanes that have seen nothing but -infinity compute -inf - (-inf).
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float tops[kBlock / kWarpSize], sums[kBlock / kWarpSize];
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock) {
    float x = in[blockIdx.x * columns + c], more = fmaxf(top, x);
    sum = sum * expf(top - more) + expf(x - more);
    top = more;
  }
  float highest = of_block(top, Max(), tops);
  sum = of_block(sum * expf(top - highest), Sum(), sums);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[blockIdx.x * columns + c] = expf(in[blockIdx.x * columns + c] - highest) / sum;
}
