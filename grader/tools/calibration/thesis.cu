// A seventh set of kernels as courses on CUDA have them, with those of viva.cu, set apart like
// those of exercise.cu and homework.cu and written after these had been looked at: they and their
// launches (set *apart* of data/measured/model/launches.csv, from 1219 on), and what the model said
// of them, were committed before any of them had been measured. The signature and the contents of
// the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- maps --------------------------------------------------------------------------------------
KERNEL(pictures_blended) {  // n points of four bytes, four a thread: a over b, by a's last byte
  const unsigned i = first();
  if (4 * i >= n) return;
  const uint4 over = reinterpret_cast<const uint4*>(a)[i];
  const uint4 under = reinterpret_cast<const uint4*>(b)[i];
  const auto blend = [](unsigned u, unsigned v) {
    const unsigned by = u >> 24, rest = 255 - by;
    const unsigned even = (u & 0xff00ffu) * by + (v & 0xff00ffu) * rest;
    const unsigned odd = (u >> 8 & 0xff00ffu) * by + (v >> 8 & 0xff00ffu) * rest;
    return (even >> 8 & 0xff00ffu) | (odd & 0xff00ff00u);
  };
  reinterpret_cast<uint4*>(c)[i] = make_uint4(blend(over.x, under.x), blend(over.y, under.y),
                                              blend(over.z, under.z), blend(over.w, under.w));
}
KERNEL(weights_by_adam) {  // n weights; behind them their slopes' means, and those of the squares
  const unsigned i = first();
  if (i >= n) return;
  const float slope = a[i];
  const float mean = 0.9f * c[n + i] + 0.1f * slope;
  const float square = 0.999f * c[2 * n + i] + 0.001f * slope * slope;
  c[n + i] = mean, c[2 * n + i] = square;
  c[i] -= 0.001f * mean / (sqrtf(square) + 1e-8f);
}
KERNEL(bytes_as_letters) {  // base64 of n times twelve bytes, a thread each
  __shared__ unsigned char letter[64];
  const unsigned t = threadIdx.x;
  if (t < 64)
    letter[t] = t < 26    ? 'A' + t
                : t < 52  ? 'a' + t - 26
                : t < 62  ? '0' + t - 52
                : t == 62 ? '+'
                          : '/';
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  unsigned in[3], out[4];
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) in[k] = word(a, 3 * i + k);
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned bits = 24 * k;  // three bytes, the first of them above
    const unsigned low = in[bits / 32], high = bits / 32 < 2 ? in[bits / 32 + 1] : 0;
    const unsigned three = __byte_perm(__funnelshift_r(low, high, bits % 32), 0, 0x4012);
    out[k] = letter[three >> 18 & 63] | letter[three >> 12 & 63] << 8 |
             letter[three >> 6 & 63] << 16 | letter[three & 63] << 24;
  }
  reinterpret_cast<uint4*>(c)[i] = make_uint4(out[0], out[1], out[2], out[3]);
}

// ---- fields and images -------------------------------------------------------------------------
KERNEL(shallow_water) {  // p by q: height and two currents, plane by plane, by Lax and Friedrichs
  const unsigned x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x, plane = p * q;
  const auto at = [&](unsigned k) { return make_float3(a[k], a[plane + k], a[2 * plane + k]); };
  const float3 l = at(i - 1), r = at(i + 1), d = at(i - p), u = at(i + p);
  const auto push = [](float3 w, float v) { return v * v / w.x + 4.905f * w.x * w.x; };
  const auto drag = [](float3 w) { return w.y * w.z / w.x; };
  c[i] = 0.25f * (l.x + r.x + d.x + u.x) - 0.01f * (r.y - l.y + u.z - d.z);
  c[plane + i] =
      0.25f * (l.y + r.y + d.y + u.y) - 0.01f * (push(r, r.y) - push(l, l.y) + drag(u) - drag(d));
  c[2 * plane + i] =
      0.25f * (l.z + r.z + d.z + u.z) - 0.01f * (drag(r) - drag(l) + push(u, u.z) - push(d, d.z));
}
KERNEL(chip_heated) {  // p by p: q steps of heat a under power b, 16 - 2 q points a block of 16
  __shared__ float tile[2][16][16];
  const int u = threadIdx.x, v = threadIdx.y, steps = q, width = p, inner = 16 - 2 * steps;
  const int x = static_cast<int>(blockIdx.x) * inner + u - steps;
  const int y = static_cast<int>(blockIdx.y) * inner + v - steps;
  const bool inside = x >= 0 && y >= 0 && x < width && y < width;
  float here = inside ? a[y * width + x] : 0.0f;
  const float power = inside ? b[y * width + x] : 0.0f;
  const int west = x > 0 ? u - 1 : u, east = x + 1 < width ? u + 1 : u;
  const int north = y > 0 ? v - 1 : v, south = y + 1 < width ? v + 1 : v;
  tile[0][v][u] = here;
  __syncthreads();
  for (int k = 1; k <= steps; ++k) {
    const auto& from = tile[(k - 1) & 1];
    if (inside && u >= k && v >= k && u < 16 - k && v < 16 - k)
      here += 0.05f * (power + 0.3f * (from[v][west] + from[v][east] - 2 * here) +
                       0.2f * (from[north][u] + from[south][u] - 2 * here) + 0.1f * (2 - here));
    tile[k & 1][v][u] = here;
    __syncthreads();
  }
  if (inside && u >= steps && v >= steps && u < 16 - steps && v < 16 - steps)
    c[y * width + x] = here;
}
KERNEL(smoke_carried) {  // p cubed, each point from where the wind b has it from, between eight
  const unsigned x = blockIdx.x * 32 + threadIdx.x, rows = p / 4;
  const unsigned y = blockIdx.y % rows * 4 + threadIdx.y, z = blockIdx.y / rows;
  const unsigned i = (z * p + y) * p + x;
  const float wind = b[i], most = static_cast<float>(p) - 1.001f;
  const auto from = [&](unsigned k, float by) {
    return fminf(fmaxf(static_cast<float>(k) - by * wind, 0.0f), most);
  };
  const float u = from(x, 3), v = from(y, -2), w = from(z, 1);
  const unsigned s = static_cast<unsigned>(u), t = static_cast<unsigned>(v),
                 r = static_cast<unsigned>(w);
  const float f = u - static_cast<float>(s), g = v - static_cast<float>(t),
              h = w - static_cast<float>(r);
  const float* at = a + (r * p + t) * p + s;
  const auto between = [](float left, float right, float by) { return left + by * (right - left); };
  const float near = between(between(at[0], at[1], f), between(at[p], at[p + 1], f), g);
  at += p * p;
  const float far = between(between(at[0], at[1], f), between(at[p], at[p + 1], f), g);
  c[i] = between(near, far, h);
}
KERNEL(columns_blurred) {  // p by q, 17 taps down the columns: 16 by 64 points a block of 16 by 8
  __shared__ float tile[16][81];
  const unsigned u = threadIdx.x, v = threadIdx.y, x = blockIdx.x * 16 + u, top = blockIdx.y * 64;
#pragma unroll
  for (unsigned k = 0; k < 10; ++k) {
    const unsigned y = top + k * 8 + v - 8;
    tile[u][k * 8 + v] = y < q ? a[y * p + x] : 0.0f;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    float sum = 0;
#pragma unroll
    for (unsigned j = 0; j < 17; ++j) sum += b[j] * tile[u][k * 8 + v + j];
    c[(top + k * 8 + v) * p + x] = sum;
  }
}
KERNEL(cosines_of_squares) {  // p by q, of 8 by 8 points each: four squares a block of 32 by 8
  __shared__ float wave[8][9], tile[8][33], half[8][33];
  const unsigned u = threadIdx.x, v = threadIdx.y;
  const unsigned i = (blockIdx.y * 8 + v) * p + blockIdx.x * 32 + u;
  if (u < 8)
    wave[v][u] =
        v == 0 ? 0.35355339f : 0.5f * __cosf(static_cast<float>((2 * u + 1) * v) * 0.19634954f);
  tile[v][u] = a[i];
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) sum += wave[v][k] * tile[k][u];
  half[v][u] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) sum += wave[u & 7][k] * half[v][(u & 24) + k];
  c[i] = sum;
}
KERNEL(rows_summed_along) {  // q rows of p words: sums along each, a warp a row
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= q) return;
  float before = 0;
  for (unsigned k = lane; k < p; k += 32) {
    float sum = a[row * p + k];
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const float other = __shfl_up_sync(~0u, sum, step);
      if (lane >= step) sum += other;
    }
    sum += before;
    c[row * p + k] = sum;
    before = __shfl_sync(~0u, sum, 31);
  }
}
KERNEL(spheres_seen) {  // rows of p points, n in all: the nearest of q spheres (64 at most), shaded
  __shared__ float4 sphere[64];
  const unsigned u = threadIdx.x, v = threadIdx.y, t = v * 16 + u;
  if (t < q) {
    const float4 s = reinterpret_cast<const float4*>(b)[t];
    sphere[t] = make_float4(2 * s.x - 3, 2 * s.y - 3, s.z, 0.1f * s.w);
  }
  __syncthreads();
  const unsigned x = blockIdx.x * 16 + u, y = blockIdx.y * 16 + v;
  const float by = 2 / static_cast<float>(p);
  const float sx = static_cast<float>(x) * by - 1, sy = static_cast<float>(y) * by - 1;
  float nearest = 1e30f, light = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float dx = sx - sphere[k].x, dy = sy - sphere[k].y;
    const float left = sphere[k].w * sphere[k].w - dx * dx - dy * dy;
    if (left > 0) {
      const float deep = sqrtf(left), far = sphere[k].z - deep;
      if (far < nearest) nearest = far, light = deep / sphere[k].w;
    }
  }
  const unsigned grey = static_cast<unsigned>(255 * light);
  if (y * p + x < n) words(c)[y * p + x] = grey | grey << 8 | grey << 16 | 255u << 24;
}

// ---- transforms and matrices -------------------------------------------------------------------
KERNEL(fouriers_of_256) {  // of 256 complex numbers each, a block of 128 in shared memory
  __shared__ float2 line[2][256];
  const unsigned t = threadIdx.x;
  const float2* from = reinterpret_cast<const float2*>(a) + blockIdx.x * 256;
  line[0][t] = from[t], line[0][t + 128] = from[t + 128];
  unsigned side = 0;
  for (unsigned step = 1; step < 256; step *= 2, side ^= 1) {
    __syncthreads();
    const unsigned k = t & (step - 1), to = 2 * t - k;
    float s, co;
    __sincosf(-3.14159265f * static_cast<float>(k) / static_cast<float>(step), &s, &co);
    const float2 u = line[side][t], v = line[side][t + 128];
    const float2 w = make_float2(v.x * co - v.y * s, v.x * s + v.y * co);
    line[side ^ 1][to] = make_float2(u.x + w.x, u.y + w.y);
    line[side ^ 1][to + step] = make_float2(u.x - w.x, u.y - w.y);
  }
  __syncthreads();
  float2* out = reinterpret_cast<float2*>(c) + blockIdx.x * 256;
  out[t] = line[side][t], out[t + 128] = line[side][t + 128];
}
KERNEL(turned_in_place) {  // p by p, in c itself: a tile of 32 by 32 and its mirror image a block
  __shared__ float upper[32][33], lower[32][33];
  if (blockIdx.x > blockIdx.y) return;
  const unsigned u = threadIdx.x, x = blockIdx.x * 32, y = blockIdx.y * 32;
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    lower[v][u] = c[(y + v) * p + x + u];
    upper[v][u] = c[(x + v) * p + y + u];
  }
  __syncthreads();
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    c[(y + v) * p + x + u] = upper[u][v];
    c[(x + v) * p + y + u] = lower[u][v];
  }
}
KERNEL(product_split) {  // c += a b, p by p, 32 by 32 a block of 32 by 8, q blocks each a part of k
  __shared__ float left[32][32], right[32][32];
  const unsigned u = threadIdx.x, v = threadIdx.y, tiles = p / 32, part = p / q;
  const unsigned x = blockIdx.x * 32 + u, y = blockIdx.y % tiles * 32;
  const unsigned begin = blockIdx.y / tiles * part;
  float sum[4] = {};
  for (unsigned k = begin; k < begin + part; k += 32) {
#pragma unroll
    for (unsigned r = 0; r < 32; r += 8) {
      left[v + r][u] = a[(y + v + r) * p + k + u];
      right[v + r][u] = b[(k + v + r) * p + x];
    }
    __syncthreads();
#pragma unroll 8
    for (unsigned j = 0; j < 32; ++j)
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) sum[r] += left[v + 8 * r][j] * right[j][u];
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) atomicAdd(c + (y + v + 8 * r) * p + x, sum[r]);
}
KERNEL(product_with_itself) {  // c = a a', p rows of q words, on and below the diagonal: 16 by 16
  __shared__ float left[16][17], right[16][17];
  if (blockIdx.x > blockIdx.y) return;
  const unsigned u = threadIdx.x, v = threadIdx.y, x = blockIdx.x * 16, y = blockIdx.y * 16;
  float sum = 0;
  for (unsigned k = 0; k < q; k += 16) {
    left[v][u] = a[(y + v) * q + k + u];
    right[v][u] = a[(x + v) * q + k + u];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) sum += left[v][j] * right[u][j];
    __syncthreads();
  }
  c[(y + v) * p + x + u] = sum;
}
KERNEL(triangles_of_sixteen) {  // n matrices of 16 by 16, without pivots, a block of 16 by 16 each
  __shared__ float m[16][17];
  const unsigned u = threadIdx.x, v = threadIdx.y, i = blockIdx.x * 256 + v * 16 + u;
  m[v][u] = a[i] + (u == v ? 16.0f : 0.0f);
  __syncthreads();
  for (unsigned k = 0; k < 15; ++k) {
    if (u == k && v > k) m[v][k] /= m[k][k];
    __syncthreads();
    if (u > k && v > k) m[v][u] -= m[v][k] * m[k][u];
    __syncthreads();
  }
  c[i] = m[v][u];
}
KERNEL(lines_solved_by_threads) {  // n tridiagonal systems of p rows, row by row (Thomas' rule)
  const unsigned i = first();
  if (i >= n) return;
  float up = 0, side = 0;
  for (unsigned k = 0; k < p; ++k) {
    const float low = k > 0 ? a[k * n + i] - 1 : 0.0f;
    const float by = 1 / (4 - low * up);
    up = (2 - a[k * n + i]) * by;
    side = (b[k * n + i] - low * side) * by;
    c[k * n + i] = side;
    c[(p + k) * n + i] = up;
  }
  for (unsigned k = p - 1; k > 0; --k) {
    side = c[(k - 1) * n + i] - c[(p + k - 1) * n + i] * side;
    c[(k - 1) * n + i] = side;
  }
}
KERNEL(blocks_times_vector) {  // n rows of p blocks of 4 by 4 (even), a warp each; q numbers of b
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float sum = 0;
  for (unsigned k = lane / 16; k < p; k += 2) {
    const unsigned at = (row * p + k) * 16, column = word(a, at) & (q / 4 - 1);
    sum += a[at + lane % 16] * b[column * 4 + lane % 4];
  }
  sum += __shfl_xor_sync(~0u, sum, 16);
  sum += __shfl_xor_sync(~0u, sum, 1);
  sum += __shfl_xor_sync(~0u, sum, 2);
  if (lane < 16 && lane % 4 == 0) c[row * 4 + lane / 4] = sum;
}
KERNEL(potentials_on_grid) {  // p by p points, four a thread of 16 by 16, of q charges, 64 a tile
  __shared__ float4 charge[64];
  const unsigned u = threadIdx.x, v = threadIdx.y, t = v * 16 + u;
  const unsigned x = blockIdx.x * 64 + u, y = blockIdx.y * 16 + v;
  const float by = 1 / static_cast<float>(p);
  const float px = 1 + static_cast<float>(x) * by, py = 1 + static_cast<float>(y) * by;
  float sum[4] = {};
  for (unsigned k = 0; k < q; k += 64) {
    if (t < 64) charge[t] = reinterpret_cast<const float4*>(b)[k + t];
    __syncthreads();
#pragma unroll 4
    for (unsigned j = 0; j < 64; ++j) {
      const float4 from = charge[j];
      const float dy = py - from.y, dz = 0.5f - from.z, rest = dy * dy + dz * dz;
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) {
        const float dx = px + static_cast<float>(16 * r) * by - from.x;
        sum[r] += from.w * rsqrtf(dx * dx + rest);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) c[y * p + x + 16 * r] = sum[r];
}
