// verdict: B3 push: result | failed | "race on tile[0].charge"
// verdict: B3 push: sectors | failed | "counts once the result is right"
// A tile of structures without a barrier: what the race is on is named by the structure's members.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  constexpr int kBlock = 256;
  __shared__ Particle tile[kBlock];
  int first = blockIdx.x * kBlock;
  int floats = kFields * min(kBlock, n - first);
  const float* from = reinterpret_cast<const float*>(in + first);
  float* to = reinterpret_cast<float*>(out + first);
  float* words = reinterpret_cast<float*>(tile);
  for (int j = threadIdx.x; j < floats; j += kBlock) words[j] = from[j];
  if (kFields * threadIdx.x < floats) {
    Particle& p = tile[threadIdx.x];
    float a = dt * p.charge / p.mass;
    p.x += dt * p.vx;
    p.y += dt * p.vy;
    p.z += dt * p.vz;
    p.vx += a * ex;
    p.vy += a * ey;
    p.vz += a * ez;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < floats; j += kBlock) to[j] = words[j];
}
