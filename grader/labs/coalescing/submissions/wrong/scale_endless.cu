// verdict: B1 scale: result | failed | "runs too long"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// Nobody increments i.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int i = 16 * blockDim.x * blockIdx.x + threadIdx.x;
  while (i < n) out[i] = factor * in[i];
}
