// verdict: B4 centre: result | failed | "was not written"
// verdict: B4 centre: sectors | failed | "counts once the result is right"
// Elements are counted, and compared with the number of rows.
__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int i = (4 * blockIdx.x + blockIdx.y) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - mean[i % 4];
}
