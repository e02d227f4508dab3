// verdict: D3 softmax: sectors | failed | "The registers of a block have room"
// half right
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ float tops[kBlock / kWarpSize], sums[kBlock / kWarpSize];
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < columns; c += kBlock)
    top = fmaxf(top, in[blockIdx.x * columns + c]);
  top = of_block(top, Max(), tops);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    sum += expf(in[blockIdx.x * columns + c] - top);
  sum = of_block(sum, Sum(), sums);
  for (int c = threadIdx.x; c < columns; c += kBlock)
    out[blockIdx.x * columns + c] = expf(in[blockIdx.x * columns + c] - top) / sum;
}
