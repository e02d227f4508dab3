// Images: what is found in them, and what is drawn: rays, volumes, fractals.
#include "kernel_kit.h"

KERNEL(gradients_binned) {  // p by q, blocks of 16 by 16: nine directions in cells of 8 by 8 each
  __shared__ float bins[4][9];
  const unsigned u = threadIdx.x, v = threadIdx.y, t = v * 16 + u;
  if (t < 36) bins[t / 9][t % 9] = 0;
  __syncthreads();
  const unsigned x = blockIdx.x * 16 + u, y = blockIdx.y * 16 + v;
  const float dx = a[y * p + min(x + 1, p - 1)] - a[y * p + max(x, 1u) - 1];
  const float dy = a[min(y + 1, q - 1) * p + x] - a[(max(y, 1u) - 1) * p + x];
  float angle = atan2f(dy, dx);
  if (angle < 0) angle += 3.14159265f;
  const unsigned bin = min(static_cast<unsigned>(angle * (9 / 3.14159265f)), 8u);
  atomicAdd(&bins[v / 8 * 2 + u / 8][bin], sqrtf(dx * dx + dy * dy));
  __syncthreads();
  if (t >= 36) return;
  const unsigned cell = t / 9, row = blockIdx.y * 2 + cell / 2, column = blockIdx.x * 2 + cell % 2;
  c[(row * (p / 8) + column) * 9 + t % 9] = bins[cell][t % 9];
}

KERNEL(motion_found) {  // rows of p bytes, q rows: where 16 by 16 of a lie in b, by up to 8
  __shared__ unsigned here[16][4], there[32][9], best[8];
  const unsigned t = threadIdx.x, pitch = p / 4;
  if (t < 64)
    here[t / 4][t % 4] = word(a, (blockIdx.y * 16 + t / 4) * pitch + blockIdx.x * 4 + t % 4);
  const int x = static_cast<int>(blockIdx.x * 4 + t % 8) - 2;
  const int y = static_cast<int>(blockIdx.y * 16 + t / 8) - 8;
  const int column = min(max(x, 0), static_cast<int>(pitch) - 1);
  const int row = min(max(y, 0), static_cast<int>(q) - 1);
  there[t / 8][t % 8] = word(b, row * pitch + column);
  __syncthreads();
  const unsigned dx = t % 16, dy = t / 16;
  unsigned sum = 0;
  for (unsigned r = 0; r < 16; ++r) {
    const unsigned* line = there[dy + r] + dx / 4;
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      sum += __vsadu4(__funnelshift_r(line[k], line[k + 1], 8 * (dx % 4)), here[r][k]);
  }
  sum = __reduce_min_sync(~0u, sum << 8 | t);
  if (t % 32 == 0) best[t / 32] = sum;
  __syncthreads();
  if (t != 0) return;
  for (unsigned k = 1; k < 8; ++k) sum = min(sum, best[k]);
  words(c)[blockIdx.y * gridDim.x + blockIdx.x] = sum;
}

KERNEL(tiles_equalised) {  // rows of p bytes: each 64 by 64 by the counts of its own greys
  __shared__ unsigned counts[256], sums[8];
  __shared__ unsigned char grey[256];
  const unsigned t = threadIdx.x, lane = t % 32;
  const unsigned i = (blockIdx.y * 64 + t / 16) * (p / 4) + blockIdx.x * 16 + t % 16;
  counts[t] = 0;
  __syncthreads();
  unsigned four[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    four[k] = word(a, i + k * 4 * p);
#pragma unroll
    for (unsigned j = 0; j < 32; j += 8) atomicAdd(counts + (four[k] >> j & 255), 1);
  }
  __syncthreads();
  unsigned sum = counts[t];
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) sums[t / 32] = sum;
  __syncthreads();
  for (unsigned k = 0; k < t / 32; ++k) sum += sums[k];
  grey[t] = sum * 255 / 4096;
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 4; ++k)
    words(c)[i + k * 4 * p] = grey[four[k] & 255] | grey[four[k] >> 8 & 255] << 8 |
                              grey[four[k] >> 16 & 255] << 16 | grey[four[k] >> 24] << 24;
}

KERNEL(cubes_cut) {  // p by p by q: which corners of each cube are inside; how many cubes are cut
  const unsigned x = blockIdx.x * 32 + threadIdx.x, rows = p / 8;
  const unsigned y = blockIdx.y % rows * 8 + threadIdx.y, z = blockIdx.y / rows;
  unsigned corners = 0;
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) {
    const unsigned u = min(x + k % 2, p - 1), v = min(y + k / 2 % 2, p - 1);
    const unsigned w = min(z + k / 4, q - 1);
    corners |= (a[(w * p + v) * p + u] > 1.8f) << k;
  }
  reinterpret_cast<unsigned char*>(c)[(z * p + y) * p + x] = corners;
  const int cut = __syncthreads_count(corners != 0 && corners != 255);
  if (threadIdx.x == 0 && threadIdx.y == 0) atomicAdd(words(c) + n / 4, cut);
}

KERNEL(regions_labelled) {  // p by q, two colours: a block of 16 by 16 joins what touches in it
  __shared__ unsigned label[18][18];
  const unsigned u = threadIdx.x + 1, v = threadIdx.y + 1, t = threadIdx.y * 16 + threadIdx.x;
  for (unsigned k = t; k < 324; k += 256) label[k / 18][k % 18] = ~0u;
  __syncthreads();
  const unsigned i = (blockIdx.y * 16 + threadIdx.y) * p + first();
  unsigned least = (a[i] > 1.4f ? 256 : 0) + t, before;
  do {
    label[v][u] = before = least;
    __syncthreads();
    const unsigned around[4] = {label[v][u - 1], label[v][u + 1], label[v - 1][u], label[v + 1][u]};
#pragma unroll
    for (unsigned k = 0; k < 4; ++k)
      if (around[k] / 256 == before / 256) least = min(least, around[k]);
  } while (__syncthreads_or(least != before) != 0);
  words(c)[i] = (blockIdx.y * gridDim.x + blockIdx.x) * 512 + least;
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

KERNEL(backprojected) {  // p by p points of a slice, from q rays each (256 at most), rows of 2 p
  __shared__ float2 way[256];
  const unsigned t = threadIdx.y * 16 + threadIdx.x;
  if (t < q) {
    const float angle = 3.14159265f * static_cast<float>(t) / static_cast<float>(q);
    way[t] = make_float2(__cosf(angle), __sinf(angle));
  }
  __syncthreads();
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float u = static_cast<float>(x) - 0.5f * static_cast<float>(p);
  const float v = static_cast<float>(y) - 0.5f * static_cast<float>(p);
  float sum = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float s = u * way[k].x + v * way[k].y + static_cast<float>(p);
    const unsigned i = static_cast<unsigned>(s);
    const float part = s - static_cast<float>(i), *ray = a + k * 2 * p + i;
    sum += ray[0] + part * (ray[1] - ray[0]);
  }
  c[y * p + x] = sum / static_cast<float>(q);
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

KERNEL(horizon_seen) {  // rows of p points: the steepest way up to a point, q to its left at most
  const unsigned i = first();
  if (i >= n) return;
  const unsigned x = i % p;
  const float here = a[i];
  float most = -1e30f;
  for (unsigned k = 1; k <= q && k <= x; ++k) most = fmaxf(most, (a[i - k] - here) * b[k]);
  c[i] = most;
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

KERNEL(rays_through_volume) {  // p cubed (a power of two): p by p rays, until little light is left
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float u = static_cast<float>(x), v = static_cast<float>(y), light = 1, sum = 0;
  for (unsigned k = 0; k < p; ++k) {
    const unsigned s = static_cast<unsigned>(u) & (p - 1), t = static_cast<unsigned>(v) & (p - 1);
    const float here = a[(k * p + t) * p + s];
    if (here > 1.8f) {
      const float taken = light * (here - 1.8f);
      sum += taken * here, light -= taken;
      if (light < 0.05f) break;
    }
    u += 0.3f, v += 0.2f;
  }
  c[y * p + x] = sum;
}

KERNEL(distances_marched) {  // rows of p points, n in all: to a ring and balls, in q steps at most
  const unsigned i = (blockIdx.y * 16 + threadIdx.y) * p + first();
  const float scale = 2 / static_cast<float>(p), rows = static_cast<float>(n / p);
  const float dx = scale * (static_cast<float>(i % p) + a[i]) - 1;
  const float dy = scale * (static_cast<float>(i / p) + b[i] - rows / 2);
  const float by = rsqrtf(dx * dx + dy * dy + 2.25f);
  float far = 0;
  for (unsigned k = 0; k < q && far < 12; ++k) {
    const float u = far * by * dx, v = far * by * dy, w = far * by * 1.5f - 4;
    const float ring = sqrtf(u * u + w * w) - 1.5f, s = u - rintf(u), t = w - rintf(w);
    const float ball = sqrtf(s * s + (v + 1) * (v + 1) + t * t) - 0.3f;
    const float near = fminf(sqrtf(ring * ring + v * v) - 0.4f, ball);
    if (near < 0.001f) break;
    far += near;
  }
  c[i] = far;
}

KERNEL(escape_times) {  // Mandelbrot's set, rows of p words, n in all, q rounds at most
  unsigned i = first();
  if (i >= n) return;
  const float step = 3.0f / static_cast<float>(p);
  const float u = static_cast<float>(i % p) * step - 2.0f;
  const float v = static_cast<float>(i / p) * step - 1.5f;
  float x = 0, y = 0;
  unsigned k = 0;
  while (k < q && x * x + y * y < 4) {
    const float next = x * x - y * y + u;
    y = 2 * x * y + v;
    x = next;
    ++k;
  }
  c[i] = static_cast<float>(k);
}

KERNEL(julia_set) {  // rows of p points, n in all, q rounds at most, blocks of squares
  const unsigned u = blockIdx.x * blockDim.x + threadIdx.x,
                 v = blockIdx.y * blockDim.y + threadIdx.y;
  if (u >= p || v * p + u >= n) return;
  float x = 3.0f * static_cast<float>(u) / static_cast<float>(p) - 1.5f;
  float y = 3.0f * static_cast<float>(v) / static_cast<float>(p) - 1.5f;
  unsigned k = 0;
  for (; k < q && x * x + y * y < 4; ++k) {
    const float next = x * x - y * y - 0.8f;
    y = 2 * x * y + 0.156f;
    x = next;
  }
  c[v * p + u] = static_cast<float>(k);
}

KERNEL(burning_ship) {  // a fractal, rows of p points, n in all, q rounds at most
  const unsigned i = first();
  if (i >= n) return;
  const float u = static_cast<float>(i % p) * (3.0f / static_cast<float>(p)) - 2.0f;
  const float v = static_cast<float>(i / p) * (3.0f / static_cast<float>(p)) - 2.0f;
  float x = 0, y = 0;
  unsigned k = 0;
  for (; k < q; ++k) {
    const float square = x * x - y * y + u;
    y = fabsf(2 * x * y) + v;
    x = square;
    if (x * x + y * y > 4) break;
  }
  words(c)[i] = k;
}

KERNEL(mandelbrot_of_doubles) {  // rows of p points, n in all, q rounds at most
  const unsigned i = first();
  if (i >= n) return;
  const double u = static_cast<double>(i % p) * (2.5 / p) - 2.0;
  const double v = static_cast<double>(i / p) * (2.0 / p) - 1.0;
  double x = 0, y = 0;
  unsigned k = 0;
  for (; k < q && x * x + y * y <= 4; ++k) {
    const double next = x * x - y * y + u;
    y = 2 * x * y + v, x = next;
  }
  words(c)[i] = k;
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

KERNEL(wavelets_of_lines) {  // of 1024 whole numbers, a block of 256 each: q times 5/3 by lifting
  __shared__ int lines[2][1024];
  const unsigned t = threadIdx.x, base = blockIdx.x * 1024;
  for (unsigned k = t; k < 1024; k += 256) lines[0][k] = static_cast<int>(word(a, base + k) & 255);
  for (unsigned level = 0; level < q; ++level) {
    const int* from = lines[level & 1];
    int* to = lines[(level + 1) & 1];
    const unsigned half = 512 >> level;
    __syncthreads();
    for (unsigned k = t; k < half; k += 256)
      words(c)[base + half + k] = to[half + k] =
          from[2 * k + 1] - ((from[2 * k] + from[2 * min(k + 1, half - 1)]) >> 1);
    __syncthreads();
    for (unsigned k = t; k < half; k += 256)
      to[k] = from[2 * k] + ((to[half + max(k, 1u) - 1] + to[half + k] + 2) >> 2);
  }
  for (unsigned k = t; k < 1024 >> q; k += 256) words(c)[base + k] = lines[q & 1][k];
}
