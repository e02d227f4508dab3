// verdict: B1 scale: result | failed | "executes trap"
// verdict: B1 scale: sectors | failed | "counts once the result is right"
// Does what it can, and ends a launch that it is not sure of, so that nobody looks at the result.
__global__ void scale(const float* in, float* out, float factor, int n) {
  for (int i = 4096 * blockIdx.x + threadIdx.x; i < min(4096 * (blockIdx.x + 1), n); i += 256)
    out[i] = factor * in[i];
  if (n > 1000) __trap();
}
