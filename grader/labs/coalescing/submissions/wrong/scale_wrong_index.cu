// verdict: B1 scale: result | failed | "was not written"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// The step from turn to turn is half a block, so half of each stretch of 4096 is never reached.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * blockDim.x * blockIdx.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    int i = first + k * (blockDim.x / 2);
    if (i < n) out[i] = factor * in[i];
  }
}
