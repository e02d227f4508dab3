// Kernels that are bound by arithmetic and by the loads that feed it.
#include <stdint.h>

// c = a * b for squares of n rows; a block of 16 x 16 threads computes 64 x 64 elements, a thread 4 x 4.
__global__ void matmul_4x4(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][64], bs[16][64];
  const int t = threadIdx.x, x = t % 16, y = t / 16;
  const int row = blockIdx.x / (n / 64) * 64, column = blockIdx.x % (n / 64) * 64;
  float sum[4][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int i = 0; i < 4; ++i) {
      as[x][y + 16 * i] = a[(row + y + 16 * i) * n + k + x];
      bs[t / 64 + 4 * i][t % 64] = b[(k + t / 64 + 4 * i) * n + column + t % 64];
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i)
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sum[r][s] += as[i][y * 4 + r] * bs[i][x + 16 * s];
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) c[(row + y * 4 + r) * n + column + x + 16 * s] = sum[r][s];
}

// Accelerations of n bodies, each attracted by all others, a tile of blockDim.x bodies at a time.
__global__ void nbody(const float4* bodies, float4* accelerations, int n) {
  __shared__ float4 tile[256];
  const float4 own = bodies[blockIdx.x * blockDim.x + threadIdx.x];
  float x = 0, y = 0, z = 0;
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = bodies[first + threadIdx.x];
    __syncthreads();
    for (unsigned i = 0; i < blockDim.x; ++i) {
      const float4 other = tile[i];
      const float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      const float pull = other.w * inverse * inverse * inverse;
      x += dx * pull;
      y += dy * pull;
      z += dz * pull;
    }
    __syncthreads();
  }
  accelerations[blockIdx.x * blockDim.x + threadIdx.x] = make_float4(x, y, z, 0);
}

// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011).
__device__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const uint32_t high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    const uint32_t high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

// Per thread: how many of four times `rounds` random points lie within the quarter circle.
__global__ void monte_carlo(unsigned* inside, int rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned hits = 0;
  for (int round = 0; round < rounds; ++round) {
    const uint4 a = philox(make_uint4(i, round, 0, 0), make_uint2(7, 0));
    const uint4 b = philox(make_uint4(i, round, 1, 0), make_uint2(7, 0));
    const uint32_t xs[4] = {a.x, a.y, a.z, a.w}, ys[4] = {b.x, b.y, b.z, b.w};
    for (int p = 0; p < 4; ++p) {
      const float x = xs[p] * 0x1p-32f, y = ys[p] * 0x1p-32f;
      if (x * x + y * y < 1) ++hits;
    }
  }
  inside[i] = hits;
}

__device__ float normal_distribution(float d) {
  const float k = 1 / (1 + 0.2316419f * fabsf(d));
  const float tail =
      0.39894228f * __expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}

// European options by the Black-Scholes formula: calls and puts.
__global__ void black_scholes(const float* price, const float* strike, const float* years,
                              float* calls, float* puts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float rate = 0.02f, volatility = 0.3f;
  const float s = price[i], x = strike[i], t = years[i];
  const float root = sqrtf(t);
  const float d1 =
      (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float n1 = normal_distribution(d1), n2 = normal_distribution(d2);
  const float discount = expf(-rate * t);
  calls[i] = s * n1 - x * discount * n2;
  puts[i] = x * discount * (1 - n2) - s * (1 - n1);
}
