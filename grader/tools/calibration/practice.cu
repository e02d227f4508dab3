// The other half of the fifth set (tutorial.cu): sorts, histograms, sparse matrices, gathers and
// arithmetic. The signature and the contents of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- sorts and histograms ----------------------------------------------------------------------
KERNEL(ranks_by_digit) {  // blocks of 256: a word's place among those of its block with its digit
  __shared__ unsigned count[8][16];
  const unsigned i = first(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x < 128) count[threadIdx.x / 16][threadIdx.x % 16] = 0;
  __syncthreads();
  const unsigned digit = word(a, i) >> p & 15;
  unsigned same = ~0u;
#pragma unroll
  for (unsigned bit = 0; bit < 4; ++bit) {
    const unsigned set = __ballot_sync(~0u, digit >> bit & 1);
    same &= digit >> bit & 1 ? set : ~set;
  }
  const unsigned before = __popc(same & ((1u << lane) - 1));
  if (before == 0) count[warp][digit] = __popc(same);
  __syncthreads();
  unsigned rank = before;
  for (unsigned k = 0; k < warp; ++k) rank += count[k][digit];
  words(c)[i] = digit << 16 | rank;
}
KERNEL(sorted_by_bitonic) {  // blocks of 512 threads, 1024 words in shared memory
  __shared__ float key[1024];
  const unsigned t = threadIdx.x, base = blockIdx.x * 1024;
  key[t] = a[base + t], key[t + 512] = a[base + t + 512];
  for (unsigned size = 2; size <= 1024; size *= 2)
    for (unsigned step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      const unsigned i = 2 * t - (t & (step - 1)), j = i + step;
      const float u = key[i], v = key[j];
      if ((u > v) == ((i & size) == 0)) key[i] = v, key[j] = u;
    }
  __syncthreads();
  c[base + t] = key[t], c[base + t + 512] = key[t + 512];
}
KERNEL(dealt_out) {  // n words (a power of two), each to a place of its own, in no order
  const unsigned i = first();
  if (i >= n) return;
  unsigned to = i * 747796405u + 2891336453u;
  to ^= to >> 9 & (n - 1) >> 9, to = to * 277803737u;
  c[to & (n - 1)] = a[i];
}
KERNEL(pairs_counted) {  // of neighbouring grey values, 64 by 64 counters
  const unsigned i = first();
  if (i + 1 >= n) return;
  const unsigned u = word(a, i) >> 8 & 63, v = word(a, i + 1) >> 8 & 63;
  atomicAdd(words(c) + u * 64 + v, 1u);
}
KERNEL(small_histograms) {  // 64 counters a warp in shared memory, sixteen words a thread
  __shared__ unsigned count[8][64];
  for (unsigned k = threadIdx.x; k < 512; k += 256) count[k / 64][k % 64] = 0;
  __syncthreads();
#pragma unroll 4
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned i = (blockIdx.x * 16 + k) * 256 + threadIdx.x;
    atomicAdd(&count[threadIdx.x / 32][word(a, i) >> 4 & 63], 1u);
  }
  __syncthreads();
  if (threadIdx.x >= 64) return;
  unsigned sum = 0;
  for (unsigned k = 0; k < 8; ++k) sum += count[k][threadIdx.x];
  atomicAdd(words(c) + threadIdx.x, sum);
}

// ---- sparse matrices and graphs ----------------------------------------------------------------
KERNEL(sparse_in_columns) {  // n rows of 16 entries, entry by entry; p columns (a power of two)
  const unsigned row = first();
  if (row >= n) return;
  float sum = 0;
#pragma unroll 4
  for (unsigned k = 0; k < 16; ++k) {
    const unsigned w = word(a, k * n + row);
    sum += static_cast<float>(w & 255) * b[w >> 8 & (p - 1)];
  }
  c[row] = sum;
}
KERNEL(sparse_by_entries) {  // n entries anywhere in p rows and q columns (powers of two)
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i);
  atomicAdd(c + (w * 2654435761u >> 7 & (p - 1)), b[w & (q - 1)] * 0.5f);
}
KERNEL(
    nearest_through_edges) {  // n edges between p nodes (a power of two): the shortest way so far
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i), from = w & (p - 1), to = w * 2654435761u >> 5 & (p - 1);
  atomicMax(words(c) + to, word(b, from) + (w >> 24));
}
KERNEL(neighbours_attracted) {  // n points of four words, 16 neighbours each from a list
  const unsigned i = first();
  if (i >= n) return;
  const float4* at = reinterpret_cast<const float4*>(b);
  const float4 here = at[i];
  float x = 0, y = 0, z = 0;
  for (unsigned k = 0; k < 16; ++k) {
    const float4 there = at[(i + (word(a, k * n + i) & 4095)) & (n - 1)];
    const float u = there.x - here.x, v = there.y - here.y, w = there.z - here.z;
    const float r = 1 / (u * u + v * v + w * w + 0.01f), six = r * r * r;
    const float force = six * (six - 0.5f) * r;
    x += force * u, y += force * v, z += force * w;
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, 0);
}

// ---- gathers -----------------------------------------------------------------------------------
KERNEL(colours_from_cube) {  // a table of 32 by 32 by 32, eight entries a point
  const unsigned i = first();
  if (i >= n) return;
  const unsigned w = word(a, i);
  const unsigned x = w & 15, y = w >> 5 & 15, z = w >> 10 & 15;
  const float s = static_cast<float>(w >> 15 & 31) / 32, t = static_cast<float>(w >> 20 & 31) / 32;
  const float* at = b + (z * 32 + y) * 32 + x;
  const float low = (at[0] * (1 - s) + at[1] * s) * (1 - t) + (at[32] * (1 - s) + at[33] * s) * t;
  at += 1024;
  const float up = (at[0] * (1 - s) + at[1] * s) * (1 - t) + (at[32] * (1 - s) + at[33] * s) * t;
  c[i] = low + (up - low) * (s + t) * 0.5f;
}
KERNEL(records_taken_apart) {  // n records of eight words, to eight arrays
  const unsigned i = first();
  if (i >= n) return;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) c[k * n + i] = a[8 * i + k] + 1;
}

// ---- arithmetic --------------------------------------------------------------------------------
KERNEL(bodies_in_doubles) {  // p bodies of four doubles, tiles of 128 in shared memory
  __shared__ double tile[3][128];
  const unsigned i = first();
  const double here[3] = {real(a, 4 * i), real(a, 4 * i + 1), real(a, 4 * i + 2)};
  double force[3] = {};
  for (unsigned k = 0; k < p; k += 128) {
    for (unsigned d = 0; d < 3; ++d) tile[d][threadIdx.x] = real(a, 4 * (k + threadIdx.x) + d);
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < 128; ++j) {
      double far[3], r = 0.01;
#pragma unroll
      for (unsigned d = 0; d < 3; ++d) far[d] = tile[d][j] - here[d], r += far[d] * far[d];
      const double near = static_cast<double>(rsqrtf(static_cast<float>(r)));
      const double cube = near * near * near;
#pragma unroll
      for (unsigned d = 0; d < 3; ++d) force[d] += cube * far[d];
    }
    __syncthreads();
  }
  for (unsigned d = 0; d < 3; ++d) reals(c)[4 * i + d] = force[d];
}
KERNEL(roots_of_unity_sought) {  // Newton for z^3 = 1, rows of p points, at most q steps
  const unsigned i = first();
  if (i >= n) return;
  float x = static_cast<float>(i % p) / static_cast<float>(p) * 4 - 2.01f;
  float y = static_cast<float>(i / p) / static_cast<float>(p) * 4 - 1.98f;
  unsigned k = 0;
  for (; k < q; ++k) {
    const float u = x * x - y * y, v = 2 * x * y, size = 3 * (u * u + v * v) + 1e-6f;
    const float s = x * u - y * v - 1, t = x * v + y * u;
    const float du = __fdividef(s * u + t * v, size), dv = __fdividef(t * u - s * v, size);
    x -= du, y -= dv;
    if (du * du + dv * dv < 1e-8f) break;
  }
  words(c)[i] = k;
}
KERNEL(pendulums_swung) {  // n pendulums, q steps of Runge and Kutta's rule
  const unsigned i = first();
  if (i >= n) return;
  float x = a[i], v = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float h = 0.01f, k1 = v, l1 = -__sinf(x);
    const float k2 = v + 0.5f * h * l1, l2 = -__sinf(x + 0.5f * h * k1);
    const float k3 = v + 0.5f * h * l2, l3 = -__sinf(x + 0.5f * h * k2);
    const float k4 = v + h * l3, l4 = -__sinf(x + h * k3);
    x += h / 6 * (k1 + 2 * (k2 + k3) + k4), v += h / 6 * (l1 + 2 * (l2 + l3) + l4);
  }
  c[i] = x;
}
KERNEL(needles_thrown) {  // q throws a thread, xorshift
  unsigned state = first() * 2654435769u + 12345, hits = 0;
  const auto next = [&state] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return static_cast<float>(state >> 8) * (1.0f / (1 << 24));
  };
  for (unsigned k = 0; k < q; ++k) {
    const float at = next(), angle = next() * 3.14159265f;
    hits += at < __sinf(angle) * 0.5f;
  }
  for (unsigned step = 16; step > 0; step /= 2) hits += __shfl_down_sync(~0u, hits, step);
  if (threadIdx.x % 32 == 0) words(c)[first() / 32] = hits;
}
KERNEL(primes_sieved) {  // blocks of 256, 4096 numbers in shared memory, primes below 256
  __shared__ unsigned char crossed[4096];
  const unsigned low = blockIdx.x * 4096;
  for (unsigned k = threadIdx.x; k < 1024; k += 256) reinterpret_cast<unsigned*>(crossed)[k] = 0;
  __syncthreads();
  const unsigned d = threadIdx.x;
  if (d >= 2 && (d == 2 || d % 2 != 0))
    for (unsigned m = max(d * d, (low + d - 1) / d * d); m < low + 4096; m += d)
      crossed[m - low] = 1;
  __syncthreads();
  unsigned left = 0;
  for (unsigned k = threadIdx.x; k < 4096; k += 256) left += crossed[k] == 0;
  for (unsigned step = 16; step > 0; step /= 2) left += __shfl_down_sync(~0u, left, step);
  if (threadIdx.x % 32 == 0) words(c)[first() / 32] = left;
}
