// verdict: B2 copy: with 8 warps | failed | "How many bytes does a thread request before it waits"
__global__ void copy(const float* in, float* out, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) out[i] = in[i];
}
