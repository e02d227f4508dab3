// verdict: lab | error | "expected a \";\""
__global__ void scale(const float* in, float* out, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x
  if (i < n) out[i] = factor * in[i];
}
