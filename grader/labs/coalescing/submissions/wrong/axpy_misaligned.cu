// verdict: B5 axpy: result | failed | "misaligned"
// verdict: B5 axpy: requests | failed | "counts once the result is right"
// Sixteen bytes from an address that is a multiple of four only.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i == 0 && n > 0) y[0] += a * x[0];
  if (i + 5 <= n) {
    float4 from = *reinterpret_cast<const float4*>(x + i + 1);
    y[i + 1] += a * from.x;
    y[i + 2] += a * from.y;
    y[i + 3] += a * from.z;
    y[i + 4] += a * from.w;
  } else {
    for (int j = i + 1; j < n; ++j) y[j] += a * x[j];
  }
}
