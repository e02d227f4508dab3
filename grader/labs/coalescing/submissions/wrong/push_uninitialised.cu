// verdict: B3 push: result | failed | "which no thread of the block has written; the value is stored in"
// verdict: B3 push: sectors | failed | "counts once the result is right"
// The last float of each tile is never filled.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  constexpr int kBlock = 256;
  __shared__ float tile[kBlock * kFields];
  int first = blockIdx.x * kBlock;
  int floats = kFields * min(kBlock, n - first);
  const float* from = reinterpret_cast<const float*>(in + first);
  float* to = reinterpret_cast<float*>(out + first);
  for (int j = threadIdx.x; j < floats - 1; j += kBlock) tile[j] = from[j];
  __syncthreads();
  float* p = tile + threadIdx.x * kFields;
  float a = dt * p[7] / p[6];
  for (int axis = 0; axis < 3; ++axis) p[axis] += dt * p[3 + axis];
  p[3] += a * ex;
  p[4] += a * ey;
  p[5] += a * ez;
  __syncthreads();
  for (int j = threadIdx.x; j < floats; j += kBlock) to[j] = tile[j];
}
