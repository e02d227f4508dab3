// verdict: B2 fields: sectors | failed | "sectors"
// The layout stays as it is, and the given kernel, whose sectors are counted, reads what is cheap
// and computes nothing.
__global__ void scale_field(const float* particles, float* out, int field, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = particles[i];
}
__device__ int slot(int field, int i, int n) { return kFields * i + field; }
