// Seven loads of 16 bytes by a template; one at a time where seven would pass the end.
template <int kLoads>
__device__ void move(const float4* from, float4* to, int step) {
  float4 value[kLoads];
#pragma unroll
  for (int k = 0; k < kLoads; ++k) value[k] = from[k * step];
#pragma unroll
  for (int k = 0; k < kLoads; ++k) to[k * step] = value[k];
}

__global__ void copy(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  const float4* from = reinterpret_cast<const float4*>(in);
  float4* to = reinterpret_cast<float4*>(out);
  int i = me;
  for (; i + 6 * threads < n / 4; i += 7 * threads) move<7>(from + i, to + i, threads);
  for (; i < n / 4; i += threads) move<1>(from + i, to + i, threads);
  if (me < n % 4) out[n / 4 * 4 + me] = in[n / 4 * 4 + me];
}
