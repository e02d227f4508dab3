// Four loads of 16 bytes, a tail by scalars; a limit of registers instead of launch bounds.
__global__ void copy(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
  int whole = n / 16 * 16;
  for (int i = me; 16 * i < whole; i += threads) {
    float4 a[4];
    for (int k = 0; k < 4; ++k) a[k] = reinterpret_cast<const float4*>(in)[4 * i + k];
    for (int k = 0; k < 4; ++k) reinterpret_cast<float4*>(out)[4 * i + k] = a[k];
  }
  for (int i = whole + me; i < n; i += threads) out[i] = in[i];
}
