// verdict: B2 fields: sectors | failed | "sectors"
// slot() stays as it was given: pack() and scale_field(), which nobody asked to change, keep an
// array for each field of their own.
__device__ float kept[8 * (1 << 21)];

__device__ int slot(int field, int i, int n) { return kFields * i + field; }

__global__ void pack(const float* values, float* particles, int field, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  particles[slot(field, i, n)] = values[i];
  kept[(field << 21) + i] = values[i];
}

__global__ void scale_field(const float* particles, float* out, int field, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * kept[(field << 21) + i];
}
