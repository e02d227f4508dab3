// Warps instead of blocks as the unit of work, loops that run backwards, layouts in groups of 32.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return active ? 1 : 0;
}

// Sorts the sectors by insertion and counts where they change.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  unsigned long long sorted[32];
  int lanes = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(active & (1u << lane))) continue;
    int at = lanes++;
    for (; at > 0 && sorted[at - 1] > address[lane] / 32; --at) sorted[at] = sorted[at - 1];
    sorted[at] = address[lane] / 32;
  }
  int count = lanes > 0;
  for (int k = 1; k < lanes; ++k) count += sorted[k] != sorted[k - 1];
  return count;
}

// Each warp has 512 elements of its own.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int base = 4096 * blockIdx.x + 512 * warp + lane;
  for (int i = base + 512 - 32; i >= base; i -= 32) {
    if (i < n) out[i] = factor * in[i];
  }
}

// An array of structures of arrays: 32 particles together.
__device__ int slot(int field, int i, int n) { return i / 32 * 256 + field * 32 + i % 32; }

// Without a pitch: bank conflicts cost nothing here, only sectors count.
__global__ void push(const Particle* in, Particle* out, float ex, float ey, float ez, float dt,
                     int n) {
  __shared__ Particle tile[256];
  float* flat = &tile[0].x;
  int first = blockIdx.x * 256, count = min(256, n - first);
  for (int j = threadIdx.x; j < 8 * count; j += 256) flat[j] = (&in[first].x)[j];
  __syncthreads();
  if (threadIdx.x < count) {
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
  for (int j = threadIdx.x; j < 8 * count; j += 256) (&out[first].x)[j] = flat[j];
}

__global__ void centre(const float* in, const float* mean, float* out, int n) {
  int block = gridDim.x * blockIdx.y + blockIdx.x;
  int row = 64 * block + threadIdx.x / 4, column = threadIdx.x & 3;
  if (row >= n) return;
  out[4 * row + column] = in[4 * row + column] - mean[column];
}

// The tail by the first threads of the last block.
__global__ void axpy(float a, const float* x, float* y, int n) {
  int quads = n / 4, q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < quads) {
    float4 from = reinterpret_cast<const float4*>(x)[q], to = reinterpret_cast<float4*>(y)[q];
    to = make_float4(to.x + a * from.x, to.y + a * from.y, to.z + a * from.z, to.w + a * from.w);
    reinterpret_cast<float4*>(y)[q] = to;
  }
  int i = 4 * quads + threadIdx.x;
  if (blockIdx.x == gridDim.x - 1 && i < n) y[i] += a * x[i];
}
LAB32_ANSWER(add2_time, 1.1);
