// verdict: B5 axpy: result | failed | "y[0] is "
// verdict: B5 axpy: requests | failed | "counts once the result is right"
// Off by one at the tail: the last element stays as it was, where n is not a multiple of 4.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n) {
    float4 from = *reinterpret_cast<const float4*>(x + i);
    float4* at = reinterpret_cast<float4*>(y + i);
    float4 to = *at;
    to.x += a * from.x;
    to.y += a * from.y;
    to.z += a * from.z;
    to.w += a * from.w;
    *at = to;
  } else {
    for (; i < n - 1; ++i) y[i] += a * x[i];
  }
}
