// verdict: B5 axpy: requests | failed | "49,152 requests, where 24,576 are enough"
// Eight bytes per lane: half of the way.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int threads = gridDim.x * blockDim.x;
  for (int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += 2 * threads) {
    if (i + 1 == n) {
      y[i] += a * x[i];
      return;
    }
    float2 from = *reinterpret_cast<const float2*>(x + i), to = *reinterpret_cast<float2*>(y + i);
    *reinterpret_cast<float2*>(y + i) = {to.x + a * from.x, to.y + a * from.y};
  }
}
