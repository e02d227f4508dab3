// Four loads of 16 bytes per round, then single loads of 16 bytes, then a scalar tail.
__global__ void copy(const float* __restrict__ in, float* __restrict__ out, int n) {
  int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  int rounds = n / 16 / threads;
  for (int r = 0; r < rounds; ++r) {
    float4 a[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) a[k] = from[(4 * r + k) * threads + me];
#pragma unroll
    for (int k = 0; k < 4; ++k) to[(4 * r + k) * threads + me] = a[k];
  }
  for (int i = 4 * rounds * threads + me; i < n / 4; i += threads) to[i] = from[i];
  if (me < n % 4) out[n / 4 * 4 + me] = in[n / 4 * 4 + me];
}
