// Stencils: an element from its neighbours, on lines, planes and volumes; the fields of physics.
#include "kernel_kit.h"

KERNEL(stencil_line) {  // radius q
  unsigned i = first();
  if (i < q || i + q >= n) return;
  float s = 0;
  for (unsigned k = i - q; k <= i + q; ++k) s += a[k];
  c[i] = s;
}

KERNEL(stencil_five) {  // rows of p words
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned rows = n / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= rows) return;
  unsigned i = y * p + x;
  c[i] = a[i] + 0.25f * (a[i - 1] + a[i + 1] + a[i - p] + a[i + p]);
}

KERNEL(stencil_nine) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned rows = n / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= rows) return;
  float s = 0;
#pragma unroll
  for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
    for (int dx = -1; dx <= 1; ++dx) s += a[(y + dy) * p + x + dx];
  c[y * p + x] = s;
}

KERNEL(smooth_square) {  // rows of p words, blocks of 16 by 16, radius 1
  __shared__ float tile[18][18];
  int x = static_cast<int>(blockIdx.x * 16 + threadIdx.x), width = static_cast<int>(p);
  int y = static_cast<int>(blockIdx.y * 16 + threadIdx.y), height = static_cast<int>(n / p);
  for (int k = static_cast<int>(threadIdx.y * 16 + threadIdx.x); k < 18 * 18; k += 256) {
    int u = static_cast<int>(blockIdx.x * 16) + k % 18 - 1;
    int v = static_cast<int>(blockIdx.y * 16) + k / 18 - 1;
    tile[k / 18][k % 18] = u >= 0 && v >= 0 && u < width && v < height ? a[v * width + u] : 0;
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (unsigned dy = 0; dy < 3; ++dy)
#pragma unroll
    for (unsigned dx = 0; dx < 3; ++dx) s += tile[threadIdx.y + dy][threadIdx.x + dx];
  if (x < width && y < height) c[y * width + x] = s;
}

KERNEL(stencil_seven) {  // p by p by n / p / p
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned depth = n / p / p;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= p) return;
  for (unsigned z = 1; z + 1 < depth; ++z) {
    unsigned i = (z * p + y) * p + x;
    c[i] = a[i - 1] + a[i + 1] + a[i - p] + a[i + p] + a[i - p * p] + a[i + p * p] - 6 * a[i];
  }
}

KERNEL(blur_square) {  // rows of p words, q rows: radius 2 in a tile of 32 by 8, weights in b
  __shared__ float tile[12][36];
  const int left = static_cast<int>(blockIdx.x) * 32 - 2,
            top = static_cast<int>(blockIdx.y) * 8 - 2;
  const int width = static_cast<int>(p), height = static_cast<int>(q);
  for (unsigned k = threadIdx.y * 32 + threadIdx.x; k < 12 * 36; k += 256) {
    const int x = left + static_cast<int>(k % 36), y = top + static_cast<int>(k / 36);
    tile[k / 36][k % 36] = x >= 0 && y >= 0 && x < width && y < height ? a[y * width + x] : 0;
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (unsigned v = 0; v < 5; ++v)
#pragma unroll
    for (unsigned u = 0; u < 5; ++u) s += b[v * 5 + u] * tile[threadIdx.y + v][threadIdx.x + u];
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x < p && y < q) c[y * p + x] = s;
}

// ----------------------------------------------------------------------------
KERNEL(heat_tile) {  // p by p, blocks of 16 by 16: one step of Jacobi's
  __shared__ float tile[18][18];
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const unsigned u = threadIdx.x + 1, v = threadIdx.y + 1;
  tile[v][u] = a[y * p + x];
  if (threadIdx.x == 0) tile[v][0] = x > 0 ? a[y * p + x - 1] : 0;
  if (threadIdx.x == 15) tile[v][17] = x + 1 < p ? a[y * p + x + 1] : 0;
  if (threadIdx.y == 0) tile[0][u] = y > 0 ? a[(y - 1) * p + x] : 0;
  if (threadIdx.y == 15) tile[17][u] = y + 1 < p ? a[(y + 1) * p + x] : 0;
  __syncthreads();
  c[y * p + x] = 0.25f * (tile[v][u - 1] + tile[v][u + 1] + tile[v - 1][u] + tile[v + 1][u]);
}

KERNEL(heat_volume) {  // p by p by p: a thread goes up a column of q planes
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= p) return;
  const unsigned plane = p * p;
  unsigned at = y * p + x;
  float below = a[at], here = a[at + plane];
  for (unsigned z = 1; z + 1 < q; ++z) {
    at += plane;
    const float above = a[at + plane];
    c[at] = 0.4f * here + 0.1f * (below + above + a[at - 1] + a[at + 1] + a[at - p] + a[at + p]);
    below = here, here = above;
  }
}

KERNEL(line_in_shared) {  // nine points of a line, with both ends of the block's part
  __shared__ float tile[256 + 8];
  const unsigned i = first(), t = threadIdx.x;
  tile[t + 4] = i < n ? a[i] : 0;
  if (t < 4) {
    tile[t] = i >= 4 ? a[i - 4] : 0;
    tile[t + blockDim.x + 4] = i + blockDim.x < n ? a[i + blockDim.x] : 0;
  }
  __syncthreads();
  float s = 0;
  for (unsigned k = 0; k < 9; ++k) s += b[k] * tile[t + k];
  if (i < n) c[i] = s;
}

KERNEL(heat_steps) {  // q steps of a rod, a block's part of it in shared memory
  __shared__ float rod[2][256];
  const unsigned t = threadIdx.x;
  rod[0][t] = a[first()];
  __syncthreads();
  unsigned now = 0;
  for (unsigned k = 0; k < q; ++k) {
    const float left = t > 0 ? rod[now][t - 1] : 0,
                right = t + 1 < blockDim.x ? rod[now][t + 1] : 0;
    rod[1 - now][t] = 0.5f * rod[now][t] + 0.25f * (left + right);
    now = 1 - now;
    __syncthreads();
  }
  c[first()] = rod[now][t];
}

KERNEL(plate_step) {  // p by q: heat on a plate, from device memory
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned at = y * p + x;
  c[at] = a[at] + 0.2f * (a[at - 1] + a[at + 1] + a[at - p] + a[at + p] - 4 * a[at]);
}

KERNEL(wave_step) {  // p by q: the wave equation, from two fields
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned at = y * p + x;
  c[at] = 2 * a[at] - b[at] + 0.1f * (a[at - 1] + a[at + 1] + a[at - p] + a[at + p] - 4 * a[at]);
}

KERNEL(red_points_relaxed) {  // p by q, every other point from its four neighbours
  const unsigned y = blockIdx.y + 1, x = 2 * (blockIdx.x * 128 + threadIdx.x) + 1 + y % 2;
  if (x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x;
  c[i] = 0.25f * (a[i - 1] + a[i + 1] + a[i - p] + a[i + p]) - b[i];
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

KERNEL(carried_upwind) {  // p by q: what the wind b brings from where it blows
  const unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x;
  const float wind = b[i] - 1.5f, here = a[i];
  const float along = wind > 0 ? here - a[i - 1] : a[i + 1] - here;
  const float across = wind > 0 ? here - a[i - p] : a[i + p] - here;
  c[i] = here - 0.4f * wind * (along + across);
}

KERNEL(heat_in_doubles) {  // p by q
  const unsigned x = blockIdx.x * 128 + threadIdx.x, y = blockIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x;
  const double here = real(a, i);
  reals(c)[i] =
      here + 0.2 * (real(a, i - 1) + real(a, i + 1) + real(a, i - p) + real(a, i + p) - 4 * here);
}

KERNEL(
    waves_in_planes) {  // p by p by q, a plane after the other in shared memory, blocks of 32 by 8
  __shared__ float plane[10][34];
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const unsigned u = threadIdx.x + 1, v = threadIdx.y + 1, area = p * p;
  float below = a[y * p + x], here = a[area + y * p + x];
  for (unsigned z = 1; z + 1 < q; ++z) {
    const unsigned i = z * area + y * p + x;
    const float above = a[i + area];
    plane[v][u] = here;
    if (threadIdx.x == 0) plane[v][0] = x > 0 ? a[i - 1] : 0;
    if (threadIdx.x == 31) plane[v][33] = x + 1 < p ? a[i + 1] : 0;
    if (threadIdx.y == 0) plane[0][u] = y > 0 ? a[i - p] : 0;
    if (threadIdx.y == 7) plane[9][u] = y + 1 < p ? a[i + p] : 0;
    __syncthreads();
    c[i] = 0.5f * here + 0.08f * (below + above + plane[v][u - 1] + plane[v][u + 1] +
                                  plane[v - 1][u] + plane[v + 1][u]);
    __syncthreads();
    below = here, here = above;
  }
}

KERNEL(box_of_27) {  // p by p by q: a point and all that touch it, by how near they are
  const unsigned x = blockIdx.x * 32 + threadIdx.x, rows = p / 8;
  const unsigned y = blockIdx.y % rows * 8 + threadIdx.y, z = blockIdx.y / rows;
  if (x == 0 || y == 0 || z == 0 || x + 1 >= p || y + 1 >= p || z + 1 >= q) return;
  const float weight[4] = {0.3f, 0.06f, 0.02f, 0.0125f};
  float sum = 0;
#pragma unroll
  for (int w = -1; w <= 1; ++w)
#pragma unroll
    for (int v = -1; v <= 1; ++v)
#pragma unroll
      for (int u = -1; u <= 1; ++u)
        sum += weight[u * u + v * v + w * w] * a[((z + w) * p + y + v) * p + x + u];
  c[(z * p + y) * p + x] = sum;
}

KERNEL(waves_of_eighth_order) {  // p by p by q and a margin of four points, blocks of 16 by 16
  __shared__ float tile[24][24];
  const unsigned u = threadIdx.x, v = threadIdx.y, width = p + 8, area = width * width;
  const unsigned corner = blockIdx.y * 16 * width + blockIdx.x * 16;
  const unsigned at = corner + (v + 4) * width + u + 4;
  const float weight[5] = {-2.847222f, 1.6f, -0.2f, 0.02539683f, -0.001785714f};
  float line[9] = {};
#pragma unroll
  for (unsigned k = 0; k < 8; ++k) line[k + 1] = a[k * area + at];
  for (unsigned z = 4; z < q + 4; ++z) {
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) line[k] = line[k + 1];
    line[8] = a[(z + 4) * area + at];
    __syncthreads();
    for (unsigned k = v * 16 + u; k < 576; k += 256)
      tile[k / 24][k % 24] = a[z * area + corner + k / 24 * width + k % 24];
    __syncthreads();
    float sum = 3 * weight[0] * line[4];
#pragma unroll
    for (unsigned k = 1; k < 5; ++k)
      sum += weight[k] * (line[4 - k] + line[4 + k] + tile[v + 4 - k][u + 4] +
                          tile[v + 4 + k][u + 4] + tile[v + 4][u + 4 - k] + tile[v + 4][u + 4 + k]);
    c[z * area + at] = 2 * line[4] - b[z * area + at] + 0.1f * sum;
  }
}

KERNEL(reacted_and_diffused) {  // p by q (powers of two), no edges: Gray's and Scott's two fields
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned i = y * p + x, left = y * p + ((x - 1) & (p - 1)),
                 right = y * p + ((x + 1) & (p - 1));
  const unsigned up = ((y - 1) & (q - 1)) * p + x, down = ((y + 1) & (q - 1)) * p + x;
  const float u = a[i], v = b[i], both = u * v * v;
  const float of_u = a[left] + a[right] + a[up] + a[down] - 4 * u;
  const float of_v = b[left] + b[right] + b[up] + b[down] - 4 * v;
  c[i] = u + 0.16f * of_u - both + 0.035f * (1 - u);
  c[p * q + i] = v + 0.08f * of_v + both - 0.1f * v;
}

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

KERNEL(fields_by_yee) {  // p by p by q, three planes each: the electric field b by the magnetic, a
  const unsigned x = blockIdx.x * 32 + threadIdx.x, rows = p / 8;
  const unsigned y = blockIdx.y % rows * 8 + threadIdx.y, z = blockIdx.y / rows;
  if (x == 0 || y == 0 || z == 0) return;
  const unsigned slice = p * p, all = slice * q, i = z * slice + y * p + x;
  const float *u = a, *v = a + all, *w = a + 2 * all;
  c[i] = b[i] + 0.5f * (w[i] - w[i - p] - v[i] + v[i - slice]);
  c[all + i] = b[all + i] + 0.5f * (u[i] - u[i - slice] - w[i] + w[i - 1]);
  c[2 * all + i] = b[2 * all + i] + 0.5f * (v[i] - v[i - 1] - u[i] + u[i - p]);
}

KERNEL(cloth_stretched) {  // p by q knots of four words: springs to eight neighbours, b a step ago
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned i = y * p + x;
  const float4* knot = reinterpret_cast<const float4*>(a);
  const float4 here = knot[i], before = reinterpret_cast<const float4*>(b)[i];
  float fx = 0, fy = -0.981f, fz = 0;
#pragma unroll
  for (int v = -1; v <= 1; ++v)
#pragma unroll
    for (int u = -1; u <= 1; ++u) {
      if ((u == 0 && v == 0) || x + u >= p || y + v >= q) continue;
      const float4 there = knot[i + v * static_cast<int>(p) + u];
      const float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
      const float length = sqrtf(dx * dx + dy * dy + dz * dz) + 1e-6f;
      const float pull = 4 * (1 - (u != 0 && v != 0 ? 0.7071f : 0.5f) / length);
      fx += pull * dx, fy += pull * dy, fz += pull * dz;
    }
  reinterpret_cast<float4*>(c)[i] =
      make_float4(here.x + 0.99f * (here.x - before.x) + 0.0001f * fx,
                  here.y + 0.99f * (here.y - before.y) + 0.0001f * fy,
                  here.z + 0.99f * (here.z - before.z) + 0.0001f * fz, here.w);
}
