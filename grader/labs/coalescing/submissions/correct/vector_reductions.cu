// The fewest requests of all: since sm_90 a reduction adds four floats at once, so that y is never
// loaded.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    float4 v = *reinterpret_cast<const float4*>(x + i);
    atomicAdd(reinterpret_cast<float4*>(y + i), make_float4(a * v.x, a * v.y, a * v.z, a * v.w));
  } else {
    for (; i < n; ++i) atomicAdd(y + i, a * x[i]);
  }
}
