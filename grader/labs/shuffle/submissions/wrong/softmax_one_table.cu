// verdict: D3 softmax: result | failed | "race"
// verdict: D3 softmax: sectors | failed | "counts once the result is right"
// Maximum and sum share their table of words: a fast warp stores its sum before a slow one has read
// the maxima.
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float words[kBlock / kWarpSize];
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock)
    top = fmaxf(top, in[blockIdx.x * columns + c]);
  top = of_block(top, Max(), words);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    sum += expf(in[blockIdx.x * columns + c] - top);
  sum = of_block(sum, Sum(), words);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[blockIdx.x * columns + c] = expf(in[blockIdx.x * columns + c] - top) / sum;
}
