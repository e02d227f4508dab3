// A fourth set of kernels as courses on CUDA have them, set apart like those of course.cu,
// lecture.cu and seminar.cu and written after these had been looked at: they, their launches (set
// *apart* of data/measured/model/launches.csv, from 948 on) and what the model said of them were
// committed before any of them had been measured. The signature and the contents of the arrays are
// those of kernels.cu.
#include "course_kernel.h"

// ---- images and fields -------------------------------------------------------------------------
KERNEL(horizon_seen) {  // rows of p points: the steepest way up to a point, q to its left at most
  const unsigned i = first();
  if (i >= n) return;
  const unsigned x = i % p;
  const float here = a[i];
  float most = -1e30f;
  for (unsigned k = 1; k <= q && k <= x; ++k) most = fmaxf(most, (a[i - k] - here) * b[k]);
  c[i] = most;
}
KERNEL(bilateral) {  // p by q: 5 by 5 neighbours, by how near and how like they are
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < 2 || y < 2 || x + 2 >= p || y + 2 >= q) return;
  const float mid = a[y * p + x];
  float sum = 0, weights = 0;
#pragma unroll
  for (int v = -2; v <= 2; ++v)
#pragma unroll
    for (int u = -2; u <= 2; ++u) {
      const float other = a[(y + v) * p + x + u], far = other - mid;
      const float weight = __expf(-0.5f * (u * u + v * v) - 8 * far * far);
      sum += weight * other, weights += weight;
    }
  c[y * p + x] = sum / weights;
}
KERNEL(doubled_image) {  // p by q, to 2 p by 2 q: between four points
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const unsigned u = x / 2, v = y / 2, right = min(u + 1, p - 1), below = min(v + 1, q - 1);
  const float s = 0.5f * static_cast<float>(x % 2), t = 0.5f * static_cast<float>(y % 2);
  const float top = a[v * p + u] * (1 - s) + a[v * p + right] * s;
  const float bottom = a[below * p + u] * (1 - s) + a[below * p + right] * s;
  c[y * 2 * p + x] = top * (1 - t) + bottom * t;
}
KERNEL(planes_of_colours) {  // four bytes a point, to four planes of n bytes
  const unsigned i = first();
  if (4 * i >= n) return;
  const uint4 v = reinterpret_cast<const uint4*>(a)[i];
  const unsigned low = __byte_perm(v.x, v.y, 0x5140), high = __byte_perm(v.z, v.w, 0x5140);
  const unsigned up = __byte_perm(v.x, v.y, 0x7362), over = __byte_perm(v.z, v.w, 0x7362);
  words(c)[i] = __byte_perm(low, high, 0x5410);
  words(c)[n / 4 + i] = __byte_perm(low, high, 0x7632);
  words(c)[n / 2 + i] = __byte_perm(up, over, 0x5410);
  words(c)[n / 2 + n / 4 + i] = __byte_perm(up, over, 0x7632);
}
KERNEL(clouds) {  // rows of p points, q layers of noise, each half as wide as the one before
  const unsigned i = first();
  if (i >= n) return;
  const auto noise = [](unsigned x, unsigned y) {
    unsigned h = x * 374761393u + y * 668265263u;
    h = (h ^ h >> 13) * 1274126177u;
    return static_cast<float>(h >> 8) * (1.0f / (1 << 24));
  };
  float sum = 0, high = 0.5f, wide = 1.0f / 64;
  for (unsigned k = 0; k < q; ++k, high *= 0.5f, wide *= 2) {
    const float u = static_cast<float>(i % p) * wide, v = static_cast<float>(i / p) * wide;
    const float s = u - floorf(u), t = v - floorf(v);
    const unsigned x = static_cast<unsigned>(u), y = static_cast<unsigned>(v);
    const float top = noise(x, y) * (1 - s) + noise(x + 1, y) * s;
    const float bottom = noise(x, y + 1) * (1 - s) + noise(x + 1, y + 1) * s;
    sum += high * (top * (1 - t) + bottom * t);
  }
  c[i] = sum;
}
KERNEL(fluid_moved) {  // p by q cells, nine planes: each comes from its neighbour, then all relax
  const unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
  const unsigned left = (x + p - 1) % p, right = (x + 1) % p;
  const unsigned up = (y + q - 1) % q, down = (y + 1) % q;
  const float* f = a;
  const float rest = f[y * p + x], east = f[n + y * p + left], west = f[2 * n + y * p + right];
  const float north = f[3 * n + down * p + x], south = f[4 * n + up * p + x];
  const float ne = f[5 * n + down * p + left], nw = f[6 * n + down * p + right];
  const float se = f[7 * n + up * p + left], sw = f[8 * n + up * p + right];
  const float all = rest + east + west + north + south + ne + nw + se + sw;
  const float u = east + ne + se - west - nw - sw, v = north + ne + nw - south - se - sw;
  const float mean = all / 9;
  const unsigned i = y * p + x;
  c[i] = 0.9f * rest + 0.1f * mean;
  c[n + i] = 0.9f * east + 0.1f * (mean + u / 6),
        c[2 * n + i] = 0.9f * west + 0.1f * (mean - u / 6);
  c[3 * n + i] = 0.9f * north + 0.1f * (mean + v / 6);
  c[4 * n + i] = 0.9f * south + 0.1f * (mean - v / 6);
  c[5 * n + i] = 0.9f * ne + 0.1f * mean, c[6 * n + i] = 0.9f * nw + 0.1f * mean;
  c[7 * n + i] = 0.9f * se + 0.1f * mean, c[8 * n + i] = 0.9f * sw + 0.1f * mean;
}
KERNEL(red_points_relaxed) {  // p by q, every other point from its four neighbours
  const unsigned y = blockIdx.y + 1, x = 2 * (blockIdx.x * 128 + threadIdx.x) + 1 + y % 2;
  if (x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x;
  c[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - p] + a[i + p]) - b[i];
}

// ---- matrices ----------------------------------------------------------------------------------
KERNEL(matrix_updated) {  // c = a + u v', p columns: four columns a thread
  const unsigned x = blockIdx.x * 1024 + threadIdx.x * 4, y = blockIdx.y;
  const float4 m = reinterpret_cast<const float4*>(a)[(y * p + x) / 4];
  const float4 v = reinterpret_cast<const float4*>(b)[x / 4];
  const float u = b[p + y];
  reinterpret_cast<float4*>(c)[(y * p + x) / 4] =
      make_float4(m.x + u * v.x, m.y + u * v.y, m.z + u * v.z, m.w + u * v.w);
}
KERNEL(solved_forward) {  // n systems of 16 by 16, lower triangles, interleaved, one a thread
  const unsigned i = first();
  if (i >= n) return;
  float x[16];
  unsigned at = 0;
#pragma unroll
  for (unsigned r = 0; r < 16; ++r) {
    float s = b[r * n + i];
#pragma unroll
    for (unsigned k = 0; k < r; ++k) s -= a[(at++) * n + i] * x[k];
    x[r] = s / a[(at++) * n + i];
  }
#pragma unroll
  for (unsigned r = 0; r < 16; ++r) c[r * n + i] = x[r];
}
KERNEL(distances_of_pairs) {  // of p points with 32 numbers each: 16 by 16 pairs a block
  __shared__ float left[16][33], right[16][33];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  for (unsigned k = x; k < 32; k += 16) {
    left[y][k] = a[(blockIdx.y * 16 + y) * 32 + k];
    right[y][k] = a[(blockIdx.x * 16 + y) * 32 + k];
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) {
    const float far = left[y][k] - right[x][k];
    s += far * far;
  }
  c[(blockIdx.y * 16 + y) * p + blockIdx.x * 16 + x] = sqrtf(s);
}
KERNEL(scores_of_queries) {  // 16 numbers a query, in registers, against q keys of a tile of 64
  __shared__ float4 key[64][4];
  const unsigned i = first();
  float4 mine[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) mine[k] = reinterpret_cast<const float4*>(a)[(i % n) * 4 + k];
  float most = -1e30f, sum = 0;
  for (unsigned k0 = 0; k0 < q; k0 += 64) {
    for (unsigned k = threadIdx.x; k < 256; k += blockDim.x)
      key[k / 4][k % 4] = reinterpret_cast<const float4*>(b)[k0 * 4 + k];
    __syncthreads();
    for (unsigned k = 0; k < 64; ++k) {
      float s = 0;
#pragma unroll
      for (unsigned d = 0; d < 4; ++d) {
        const float4 v = key[k][d];
        s += mine[d].x * v.x + mine[d].y * v.y + mine[d].z * v.z + mine[d].w * v.w;
      }
      const float larger = fmaxf(most, s);
      sum = sum * __expf(most - larger) + __expf(s - larger), most = larger;
    }
    __syncthreads();
  }
  c[i] = most + __logf(sum);
}
KERNEL(volume_turned) {  // p cubed, x and z change places: tiles of 32 by 32, blocks of 32 by 8
  __shared__ float tile[32][33];
  const unsigned x0 = blockIdx.x % (p / 32) * 32, z0 = blockIdx.x / (p / 32) * 32, y = blockIdx.y;
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    tile[k][threadIdx.x] = a[((z0 + k) * p + y) * p + x0 + threadIdx.x];
  __syncthreads();
  for (unsigned k = threadIdx.y; k < 32; k += 8)
    c[((x0 + k) * p + y) * p + z0 + threadIdx.x] = tile[threadIdx.x][k];
}

// ---- sums, lists, sorts ------------------------------------------------------------------------
KERNEL(rows_looked_up) {  // rows of 64 words by index, sixteen threads a row
  const unsigned i = first(), row = i / 16;
  if (row >= n) return;
  reinterpret_cast<float4*>(c)[i] = reinterpret_cast<const float4*>(a)[word(b, row) * 16 + i % 16];
}
KERNEL(sums_of_segments) {  // a warp a segment, between 0 and q words long
  const unsigned segment = first() / 32, lane = threadIdx.x % 32;
  if (segment >= n) return;
  const unsigned long_ = word(b, segment) % q;
  float s = 0;
  for (unsigned k = lane; k < long_; k += 32) s += a[segment * q + k];
  for (unsigned d = 16; d > 0; d /= 2) s += __shfl_down_sync(0xffffffff, s, d);
  if (lane == 0) c[segment] = s;
}
KERNEL(kept_in_blocks) {  // a word in two, packed at the front of each block's part
  __shared__ unsigned before[8];
  const unsigned i = first(), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned v = word(a, i);
  const bool keep = (v >> 7 & 1) != 0;
  const unsigned votes = __ballot_sync(0xffffffff, keep);
  if (lane == 0) before[warp] = __popc(votes);
  __syncthreads();
  unsigned place = __popc(votes & ((1u << lane) - 1));
  for (unsigned w = 0; w < warp; ++w) place += before[w];
  if (keep) words(c)[blockIdx.x * 256 + place] = v;
}
KERNEL(buckets_of_keys) {  // of 64, by halving in shared memory
  __shared__ unsigned from[64];
  if (threadIdx.x < 64) from[threadIdx.x] = threadIdx.x << 24;
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  const unsigned key = word(a, i);
  unsigned low = 0;
#pragma unroll
  for (unsigned step = 32; step > 0; step /= 2)
    if (from[low + step] <= key) low += step;
  words(c)[i] = low;
}
KERNEL(warps_sorted) {  // 32 words each, by exchanges between lanes
  const unsigned i = first(), lane = threadIdx.x % 32;
  float v = a[i];
#pragma unroll
  for (unsigned size = 2; size <= 32; size *= 2)
#pragma unroll
    for (unsigned d = size / 2; d > 0; d /= 2) {
      const float other = __shfl_xor_sync(0xffffffff, v, d);
      const bool small = ((lane & d) == 0) == ((lane & size) == 0);
      v = small ? fminf(v, other) : fmaxf(v, other);
    }
  c[i] = v;
}
KERNEL(votes_by_angle) {  // q angles a point, each a vote for one of p lines
  const unsigned i = first();
  if (i >= n) return;
  const float x = a[i], y = b[i];
  for (unsigned k = 0; k < q; ++k) {
    float s, t;
    __sincosf(0.1f * static_cast<float>(k), &s, &t);
    const unsigned line = static_cast<unsigned>((x * t + y * s + 3) * 1000.0f) & (p - 1);
    atomicAdd(words(c) + line, 1);
  }
}

// ---- arithmetic and strings --------------------------------------------------------------------
KERNEL(fourier_step) {  // four points a thread, n apart; p: how far this step has come
  const unsigned i = first();
  if (i >= n) return;
  const float2* from = reinterpret_cast<const float2*>(a);
  const unsigned k = i & (p - 1);
  float2 v[4];
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    const float2 x = from[i + j * n];
    float s, t;
    __sincosf(-1.5707963f * static_cast<float>(j * k) / static_cast<float>(p), &s, &t);
    v[j] = make_float2(x.x * t - x.y * s, x.x * s + x.y * t);
  }
  const float2 e = make_float2(v[0].x + v[2].x, v[0].y + v[2].y);
  const float2 f = make_float2(v[0].x - v[2].x, v[0].y - v[2].y);
  const float2 g = make_float2(v[1].x + v[3].x, v[1].y + v[3].y);
  const float2 h = make_float2(v[1].y - v[3].y, v[3].x - v[1].x);
  float2* to = reinterpret_cast<float2*>(c) + (i - k) * 4 + k;
  to[0] = make_float2(e.x + g.x, e.y + g.y), to[p] = make_float2(f.x + h.x, f.y + h.y);
  to[2 * p] = make_float2(e.x - g.x, e.y - g.y), to[3 * p] = make_float2(f.x - h.x, f.y - h.y);
}
KERNEL(order_of_bits_reversed) {  // n points, 32 - q bits
  const unsigned i = first();
  if (i < n) c[__brev(i) >> q] = a[i];
}
KERNEL(streams_ciphered) {  // twenty rounds of ChaCha's quarter on four words, q blocks a thread
  const unsigned i = first();
  if (i >= n) return;
  unsigned w = word(a, i), x = i, y = 0x61707865, z = p;
  const auto turn = [](unsigned v, unsigned by) { return v << by | v >> (32 - by); };
  for (unsigned k = 0; k < q; ++k)
#pragma unroll
    for (unsigned round = 0; round < 20; ++round) {
      w += x, z = turn(z ^ w, 16), y += z, x = turn(x ^ y, 12);
      w += x, z = turn(z ^ w, 8), y += z, x = turn(x ^ y, 7);
    }
  words(c)[i] = w ^ x ^ y ^ z;
}
KERNEL(exponentials_of_doubles) {  // by q terms of the series
  const unsigned i = first();
  if (i >= n) return;
  const double x = static_cast<double>(a[i]) - 1.5;
  double s = 1;
  for (unsigned k = q; k > 0; --k) s = 1 + s * x * (1.0 / 64) * static_cast<double>(k & 63);
  c[i] = static_cast<float>(s);
}
KERNEL(sums_of_digits) {  // of numbers of 64 bits
  const unsigned i = first();
  if (i >= n) return;
  uint64_t v = static_cast<uint64_t>(word(a, i)) * 0x9e3779b97f4a7c15ull + i;
  unsigned s = 0;
  for (; v != 0; v /= 10) s += static_cast<unsigned>(v % 10);
  words(c)[i] = s;
}
KERNEL(checks_of_lines) {  // CRC of q words each, by a table in shared memory
  __shared__ unsigned table[256];
  unsigned t = threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) t = (t & 1) != 0 ? t >> 1 ^ 0xedb88320u : t >> 1;
  table[threadIdx.x] = t;
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  unsigned crc = 0xffffffffu;
  for (unsigned k = 0; k < q; ++k) {
    const unsigned v = word(a, k * n + i);
#pragma unroll
    for (unsigned d = 0; d < 32; d += 8) crc = table[(crc ^ v >> d) & 255] ^ crc >> 8;
  }
  words(c)[i] = ~crc;
}
