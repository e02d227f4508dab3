// Systems of equations, transforms and steps of differential equations.
#include "kernel_kit.h"

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

KERNEL(inverses_of_threes) {  // n matrices of 3 by 3 in rows of 12 words, one a thread
  const unsigned i = first();
  if (i >= n) return;
  const float4* at = reinterpret_cast<const float4*>(a) + 3 * i;
  const float4 u = at[0], v = at[1], w = at[2];
  const float s = v.y * w.z - v.z * w.y, t = v.z * w.x - v.x * w.z, r = v.x * w.y - v.y * w.x;
  const float d = 1 / (u.x * s + u.y * t + u.z * r + 4);
  float4* to = reinterpret_cast<float4*>(c) + 3 * i;
  to[0] = make_float4(s * d, (u.z * w.y - u.y * w.z) * d, (u.y * v.z - u.z * v.y) * d, 0);
  to[1] = make_float4(t * d, (u.x * w.z - u.z * w.x) * d, (u.z * v.x - u.x * v.z) * d, 0);
  to[2] = make_float4(r * d, (u.y * w.x - u.x * w.y) * d, (u.x * v.y - u.y * v.x) * d, 0);
}

KERNEL(choleskys_by_warps) {  // n matrices of 32 by 32, a warp each, a row a lane, in registers
  const unsigned matrix = first() / 32, lane = threadIdx.x % 32;
  if (matrix >= n) return;
  float row[32];
#pragma unroll
  for (unsigned k = 0; k < 32; ++k)
    row[k] = a[matrix * 1024 + k * 32 + lane] + (k == lane ? 64.0f : 0.0f);
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) {
    row[k] *= rsqrtf(__shfl_sync(~0u, row[k], k));
#pragma unroll
    for (unsigned j = k + 1; j < 32; ++j) row[j] -= row[k] * __shfl_sync(~0u, row[k], j);
  }
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) c[matrix * 1024 + k * 32 + lane] = k <= lane ? row[k] : 0.0f;
}

KERNEL(right_sides_solved) {  // one lower triangle of 32 by 32, n right sides of b, one a thread
  __shared__ float triangle[32][32];
  for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x) triangle[k / 32][k % 32] = a[k];
  __syncthreads();
  const unsigned i = first();
  if (i >= n) return;
  float x[32];
#pragma unroll
  for (unsigned k = 0; k < 32; ++k) {
    float sum = b[k * n + i];
#pragma unroll
    for (unsigned j = 0; j < k; ++j) sum -= triangle[k][j] * x[j];
    x[k] = __fdividef(sum, triangle[k][k] + 30);
    c[k * n + i] = x[k];
  }
}

KERNEL(lines_reduced) {  // tridiagonal systems of 256 lines, a block each: cyclic reduction
  __shared__ float low[256], mid[256], up[256], side[256];
  const unsigned i = first(), t = threadIdx.x;
  low[t] = t > 0 ? a[i] - 1 : 0.0f, up[t] = t < 255 ? b[i] - 1 : 0.0f, mid[t] = 4, side[t] = a[i];
  __syncthreads();
  for (unsigned step = 1; step < 256; step *= 2) {
    float l = 0, u = 0, m = mid[t], s = side[t];
    if (t >= step) {
      const unsigned k = t - step;
      const float by = low[t] / mid[k];
      l = -low[k] * by, m -= up[k] * by, s -= side[k] * by;
    }
    if (t + step < 256) {
      const unsigned k = t + step;
      const float by = up[t] / mid[k];
      u = -up[k] * by, m -= low[k] * by, s -= side[k] * by;
    }
    __syncthreads();
    low[t] = l, up[t] = u, mid[t] = m, side[t] = s;
    __syncthreads();
  }
  c[i] = side[t] / mid[t];
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

KERNEL(inverted_by_jordan) {  // a matrix of p by p (32 at most) a block of as many, in place
  __shared__ float m[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y, i = (blockIdx.x * p + y) * p + x;
  m[y][x] = a[i] + (x == y ? 64 : 0);
  for (unsigned k = 0; k < p; ++k) {
    __syncthreads();
    const float by = 1 / m[k][k], right = m[k][x] * by, left = m[y][k], old = m[y][x];
    __syncthreads();
    m[y][x] = x == k ? (y == k ? by : -left * by) : (y == k ? right : old - left * right);
  }
  c[i] = m[y][x];
}

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

KERNEL(transforms_by_primes) {  // of 1024 numbers modulo a prime, a block of 512 in shared memory
  __shared__ unsigned value[1024];
  const unsigned prime = 998244353, t = threadIdx.x, base = blockIdx.x * 1024;
  value[t] = word(a, base + t) % prime, value[t + 512] = word(a, base + t + 512) % prime;
  for (unsigned half = 512; half > 0; half /= 2) {
    __syncthreads();
    const unsigned j = t & (half - 1), i = 2 * t - j;
    const unsigned u = value[i], v = value[i + half], root = word(b, half + j);
    const unsigned long long apart = u + prime - v;
    value[i] = u + v >= prime ? u + v - prime : u + v;
    value[i + half] = static_cast<unsigned>(apart * root % prime);
  }
  __syncthreads();
  words(c)[base + t] = value[t], words(c)[base + t + 512] = value[t + 512];
}

KERNEL(walsh_transformed) {  // lines of 1024 words, a block of 128 each, eight words a thread
  __shared__ float line[1024];
  const unsigned t = threadIdx.x, lane = t % 32, base = blockIdx.x * 1024;
  float v[8];
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) v[k] = a[base + k * 128 + t];
#pragma unroll
  for (unsigned step = 1; step < 8; step *= 2)
#pragma unroll
    for (unsigned k = 0; k < 8; ++k)
      if ((k & step) == 0) {
        const float sum = v[k] + v[k + step];
        v[k + step] = v[k] - v[k + step], v[k] = sum;
      }
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2)
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const float other = __shfl_xor_sync(~0u, v[k], step);
      v[k] = lane & step ? other - v[k] : v[k] + other;
    }
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) line[k * 128 + t] = v[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 2; ++k) {  // the warps' two bits
    const unsigned at = (k * 4 + t / 32) * 128 + lane;
    const float u0 = line[at], u1 = line[at + 32], u2 = line[at + 64], u3 = line[at + 96];
    c[base + at] = u0 + u1 + (u2 + u3);
    c[base + at + 32] = u0 - u1 + (u2 - u3);
    c[base + at + 64] = u0 + u1 - (u2 + u3);
    c[base + at + 96] = u0 - u1 - (u2 - u3);
  }
}

KERNEL(recurrences_scanned) {  // x' = u x + v along 1024 words, a block of 256 each
  __shared__ float factor_of[8], sum_of[8];
  const unsigned i = first(), t = threadIdx.x, lane = t % 32, warp = t / 32;
  float4 u = reinterpret_cast<const float4*>(a)[i];
  const float4 v = reinterpret_cast<const float4*>(b)[i];
  u.x -= 1, u.y -= 1, u.z -= 1, u.w -= 1;
  float factor = u.x * u.y * u.z * u.w, sum = ((v.x * u.y + v.y) * u.z + v.z) * u.w + v.w;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const float by = __shfl_up_sync(~0u, factor, step), other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += factor * other, factor *= by;
  }
  if (lane == 31) factor_of[warp] = factor, sum_of[warp] = sum;
  factor = __shfl_up_sync(~0u, factor, 1), sum = __shfl_up_sync(~0u, sum, 1);
  if (lane == 0) factor = 1, sum = 0;
  __syncthreads();
  float x = 0;
  for (unsigned k = 0; k < warp; ++k) x = factor_of[k] * x + sum_of[k];
  x = factor * x + sum;
  float4 out;
  out.x = x = u.x * x + v.x;
  out.y = x = u.y * x + v.y;
  out.z = x = u.z * x + v.z;
  out.w = u.w * x + v.w;
  reinterpret_cast<float4*>(c)[i] = out;
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

KERNEL(orbits_by_steps) {  // n planets in doubles, shorter steps near the sun, q at most
  const unsigned i = first();
  if (i >= n) return;
  double x = a[i], y = 0, u = 0, v = b[i] - 0.6, time = 0;
  for (unsigned k = 0; k < q && time < 6; ++k) {
    const double square = x * x + y * y, far = sqrt(square), step = 0.1 * far;
    const double pull = step / (square * far);
    u -= pull * x, v -= pull * y;
    x += step * u, y += step * v, time += step;
  }
  reals(c)[i] = x, reals(c)[n + i] = y;
}

KERNEL(neurons_fired) {  // n neurons, q steps by Izhikevich's rule: voltages, and how often
  const unsigned i = first();
  if (i >= n) return;
  const float current = 10 * a[i] - 5;
  float v = -65, u = -13;
  unsigned fired = 0;
  for (unsigned k = 0; k < q; ++k) {
    v += 0.5f * ((0.04f * v + 5) * v + 140 - u + current);
    v += 0.5f * ((0.04f * v + 5) * v + 140 - u + current);
    u += 0.02f * (0.2f * v - u);
    if (v >= 30) v = -65, u += 8, ++fired;
  }
  c[i] = v;
  words(c)[n + i] = fired;
}

KERNEL(integrated_from_queue) {  // a piece a block of 128: halved in a queue until it is smooth
  __shared__ float2 queue[1024];
  __shared__ unsigned head, tail;
  __shared__ float total;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    const float from = static_cast<float>(blockIdx.x % q);
    queue[0] = make_float2(from, from + 1);
    head = 0, tail = 1, total = 0;
  }
  const auto value = [](float x) { return __sinf(40 / (0.2f + x)) * x; };
  float sum = 0;
  for (;;) {
    __syncthreads();
    const unsigned from = head, to = tail;
    __syncthreads();
    if (from == to) break;
    if (t == 0) head = to;
    for (unsigned i = from + t; i < to; i += 128) {
      const float2 part = queue[i & 1023];
      const float mid = 0.5f * (part.x + part.y), width = part.y - part.x;
      const float low = value(part.x), high = value(part.y), centre = value(mid);
      const float once = width / 6 * (low + 4 * centre + high);
      const float twice = width / 12 *
                          (low + 4 * value(0.5f * (part.x + mid)) + 2 * centre +
                           4 * value(0.5f * (mid + part.y)) + high);
      if (fabsf(once - twice) > 1e-6f && width > 0.003f) {
        const unsigned at = atomicAdd(&tail, 2);
        queue[at & 1023] = make_float2(part.x, mid);
        queue[(at + 1) & 1023] = make_float2(mid, part.y);
      } else {
        sum += twice;
      }
    }
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (t % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (t == 0) c[blockIdx.x] = total;
}
