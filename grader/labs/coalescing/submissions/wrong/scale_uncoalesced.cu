// verdict: B1 scale: sectors | failed | "touch 32 sectors where 4 would do: lane 0 "
// half right
// Another index, the same walk: each thread still has 16 neighbouring elements.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = thread * 16; i < min(thread * 16 + 16, n); ++i) out[i] = factor * in[i];
}
