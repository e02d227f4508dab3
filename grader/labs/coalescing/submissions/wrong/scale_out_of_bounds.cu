// verdict: B1 scale: result | failed | "out of bounds"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// One past the end: <= where < is meant.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * blockDim.x * blockIdx.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    int i = first + k * blockDim.x;
    if (i <= n) out[i] = factor * in[i];
  }
}
