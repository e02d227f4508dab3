// verdict: B3 push: result | failed | "race"
// verdict: B3 push: sectors | failed | "counts once the result is right"
// Right by luck where warps run one after the other: nothing orders the tile's writes and reads.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  constexpr int kBlock = 256;
  __shared__ float tile[kBlock * kFields];
  int first = blockIdx.x * kBlock;
  int floats = kFields * min(kBlock, n - first);
  const float* from = reinterpret_cast<const float*>(in + first);
  float* to = reinterpret_cast<float*>(out + first);
  for (int j = threadIdx.x; j < floats; j += kBlock) tile[j] = from[j];
  if (kFields * threadIdx.x < floats) {
    float* p = tile + threadIdx.x * kFields;
    float a = dt * p[7] / p[6];
    for (int axis = 0; axis < 3; ++axis) p[axis] += dt * p[3 + axis];
    p[3] += a * ex;
    p[4] += a * ey;
    p[5] += a * ez;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < floats; j += kBlock) to[j] = tile[j];
}
