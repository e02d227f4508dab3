// verdict: B1 scale: sectors | failed | "of all threads work"
// verdict: B4 centre: sectors | failed | "of all threads work"
// The first block does the work of all, and the others leave: coalesced, and on one multiprocessor.
__global__ void scale(const float* in, float* out, float factor, int n) {
  if (blockIdx.x > 0) return;
  for (int i = threadIdx.x; i < n; i += 256) out[i] = factor * in[i];
}

__global__ void centre(const float* in, const float* mean, float* out, int n) {
  if (blockIdx.x > 0 || blockIdx.y > 0) return;
  for (int i = threadIdx.x; i < 4 * n; i += 256) out[i] = in[i] - mean[i % 4];
}
