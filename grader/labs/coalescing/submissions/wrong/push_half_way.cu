// verdict: B3 push: sectors | failed | "Load and store them as floats in global memory"
// half right
// Two float4 per particle: a quarter of the requests, but each still leaves half of its sectors.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 low = reinterpret_cast<const float4*>(in)[2 * i];
  float4 high = reinterpret_cast<const float4*>(in)[2 * i + 1];
  float a = dt * high.w / high.z;
  low.x += dt * low.w;
  low.y += dt * high.x;
  low.z += dt * high.y;
  low.w += a * ex;
  high.x += a * ey;
  high.y += a * ez;
  reinterpret_cast<float4*>(out)[2 * i] = low;
  reinterpret_cast<float4*>(out)[2 * i + 1] = high;
}
