// verdict: B2 copy: result | failed | "was not written"
// verdict: B2 copy: with 8 warps | failed | "B2 copy: result"
__global__ void copy(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += threads)
    reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
}
