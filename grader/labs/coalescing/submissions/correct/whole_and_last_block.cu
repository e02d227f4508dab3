// A template without comparisons for whole blocks, and one with comparisons for the last block.
template <bool kWhole>
__device__ void scale_block(const float* in, float* out, float factor, int n) {
  const int first = 4096 * blockIdx.x + threadIdx.x;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int i = first + 256 * k;
    if (!kWhole && i >= n) break;
    out[i] = factor * in[i];
  }
}

__global__ void scale(const float* __restrict__ in, float* __restrict__ out, float factor, int n) {
  if (4096 * (blockIdx.x + 1) <= n)
    scale_block<true>(in, out, factor, n);
  else
    scale_block<false>(in, out, factor, n);
}

__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  switch (max(0, min(4, n - i))) {
    case 4: {
      float4 from = *reinterpret_cast<const float4*>(x + i), to = *reinterpret_cast<float4*>(y + i);
      to.x += a * from.x, to.y += a * from.y, to.z += a * from.z, to.w += a * from.w;
      *reinterpret_cast<float4*>(y + i) = to;
      break;
    }
    case 3:
      y[i + 2] += a * x[i + 2];
    case 2:
      y[i + 1] += a * x[i + 1];
    case 1:
      y[i] += a * x[i];
  }
}
