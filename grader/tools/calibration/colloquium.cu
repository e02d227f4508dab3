// An eighth set of kernels as courses on CUDA have them, with those of symposium.cu, set apart like
// those of thesis.cu and viva.cu and written after these had been measured: they and their
// launches (set *apart* of data/measured/model/launches.csv, from 1293 on), and what the model said
// of them, were committed before any of them had been measured. The signature and the contents of
// the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- maps --------------------------------------------------------------------------------------
KERNEL(hues_of_colours) {  // n points of four bytes: hue, saturation and value, a byte each
  const unsigned i = first();
  if (i >= n) return;
  const unsigned point = word(a, i);
  const int red = point & 255, green = point >> 8 & 255, blue = point >> 16 & 255;
  const int most = max(red, max(green, blue)), least = min(red, min(green, blue));
  float hue = 0, full = 0;
  if (most > least) {
    const float range = static_cast<float>(most - least);
    if (most == red)
      hue = static_cast<float>(green - blue) / range;
    else if (most == green)
      hue = 2 + static_cast<float>(blue - red) / range;
    else
      hue = 4 + static_cast<float>(red - green) / range;
    if (hue < 0) hue += 6;
    full = range / static_cast<float>(most);
  }
  words(c)[i] = static_cast<unsigned>(42.5f * hue) | static_cast<unsigned>(255 * full) << 8 |
                static_cast<unsigned>(most) << 16;
}
KERNEL(gates_of_memory) {  // n cells of an LSTM: four planes of gates in a, the states in b
  const unsigned i = first();
  if (i >= n) return;
  const auto open = [](float x) { return 1 / (1 + __expf(1.5f - x)); };
  const float in = open(a[i]), keep = open(a[n + i]), out = open(a[2 * n + i]);
  const float state = keep * b[i] + in * tanhf(a[3 * n + i] - 1.5f);
  c[i] = state;
  c[n + i] = out * tanhf(state);
}
KERNEL(patches_laid_out) {  // layers of n points in rows of p: nine planes each, of all neighbours
  const unsigned i = first(), x = i % p, y = i / p, rows = n / p;
  const float* from = a + blockIdx.y * n;
#pragma unroll
  for (unsigned k = 0; k < 9; ++k) {
    const unsigned u = x + k % 3 - 1, v = y + k / 3 - 1;
    c[(blockIdx.y * 9 + k) * n + i] = u < p && v < rows ? from[v * p + u] : 0.0f;
  }
}
KERNEL(vertices_skinned) {  // n vertices of four words, moved by four each of 64 bones (3 by 4)
  __shared__ float4 bone[192];
  const unsigned i = first(), t = threadIdx.x;
  if (t < 192) bone[t] = reinterpret_cast<const float4*>(b)[t];
  __syncthreads();
  if (i >= n) return;
  const float4 at = reinterpret_cast<const float4*>(a)[i];
  const unsigned which = word(b, 768 + i);
  float x = 0, y = 0, z = 0, weight = 0.4f;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k, weight -= 0.1f) {
    const float4* row = bone + 3 * (which >> (6 * k) & 63);
    const float4 u = row[0], v = row[1], w = row[2];
    x += weight * (u.x * at.x + u.y * at.y + u.z * at.z + u.w);
    y += weight * (v.x * at.x + v.y * at.y + v.z * at.z + v.w);
    z += weight * (w.x * at.x + w.y * at.y + w.z * at.z + w.w);
  }
  reinterpret_cast<float4*>(c)[i] = make_float4(x, y, z, at.w);
}

// ---- images ------------------------------------------------------------------------------------
KERNEL(dithered_to_bits) {  // p by q, against Bayer's matrix of 8 by 8: 32 points a word
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned u = x ^ y;
  const unsigned rank =
      (u & 1) << 5 | (y & 1) << 4 | (u & 2) << 2 | (y & 2) << 1 | (u & 4) >> 1 | (y & 4) >> 2;
  const float grey = a[y * p + x] - 1;
  const unsigned bits = __ballot_sync(~0u, 64 * grey > static_cast<float>(rank) + 0.5f);
  if (threadIdx.x == 0) words(c)[(y * p + x) / 32] = bits;
}
KERNEL(census_of_points) {  // p by q: a bit for each of 24 neighbours that is darker
  __shared__ float tile[12][36];
  const int u = threadIdx.x, v = threadIdx.y, width = p, height = q;
  const int x = static_cast<int>(blockIdx.x) * 32, y = static_cast<int>(blockIdx.y) * 8;
  for (int k = v * 32 + u; k < 432; k += 256) {
    const int s = min(max(x + k % 36 - 2, 0), width - 1);
    const int r = min(max(y + k / 36 - 2, 0), height - 1);
    tile[k / 36][k % 36] = a[r * width + s];
  }
  __syncthreads();
  const float here = tile[v + 2][u + 2];
  unsigned bits = 0;
#pragma unroll
  for (int k = 0; k < 25; ++k)
    if (k != 12) bits = bits << 1 | (tile[v + k / 5][u + k % 5] < here);
  words(c)[(y + v) * width + x + u] = bits;
}
KERNEL(edges_thinned) {  // p by q: strengths of edges stay where they are largest across the edge
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned i = y * p + x;
  float kept = 0;
  if (x > 0 && y > 0 && x + 1 < p && y + 1 < q) {
    const float here = a[i], angle = b[i] - 1;  // of half a turn
    float one, other;
    if (angle < 0.125f || angle >= 0.875f)
      one = a[i - 1], other = a[i + 1];
    else if (angle < 0.375f)
      one = a[i - p - 1], other = a[i + p + 1];
    else if (angle < 0.625f)
      one = a[i - p], other = a[i + p];
    else
      one = a[i - p + 1], other = a[i + p - 1];
    if (here >= one && here >= other) kept = here;
  }
  c[i] = kept;
}
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

// ---- physics -----------------------------------------------------------------------------------
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
KERNEL(spins_flipped) {  // q rows of p bytes (powers of two): every other one, by Metropolis' rule
  const unsigned y = blockIdx.y, x = 2 * first() + y % 2, i = y * p + x;
  const auto spin = [&](unsigned u, unsigned v) {
    return bytes(a)[(v & (q - 1)) * p + (u & (p - 1))] & 1 ? 1 : -1;
  };
  const int here = spin(x, y);
  const int around = spin(x - 1, y) + spin(x + 1, y) + spin(x, y - 1) + spin(x, y + 1);
  unsigned state = i * 2654435769u ^ n;
  state ^= state >> 15, state *= 2246822519u, state ^= state >> 13;
  const float chance = static_cast<float>(state >> 8) * (1.0f / (1 << 24));
  const bool flip = chance < __expf(-0.88f * static_cast<float>(here * around));
  reinterpret_cast<signed char*>(c)[i] = flip ? -here : here;
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
KERNEL(charges_onto_grid) {  // n particles anywhere on p by p (a power of two): to four points each
  const unsigned i = first();
  if (i >= n) return;
  const float2 at = reinterpret_cast<const float2*>(a)[i];
  const float x = (at.x - 1) * static_cast<float>(p), y = (at.y - 1) * static_cast<float>(p);
  const unsigned u = static_cast<unsigned>(x), v = static_cast<unsigned>(y);
  const float s = x - static_cast<float>(u), t = y - static_cast<float>(v), charge = b[i];
  const unsigned right = (u + 1) & (p - 1), below = (v + 1) & (p - 1);
  atomicAdd(c + v * p + u, charge * (1 - s) * (1 - t));
  atomicAdd(c + v * p + right, charge * s * (1 - t));
  atomicAdd(c + below * p + u, charge * (1 - s) * t);
  atomicAdd(c + below * p + right, charge * s * t);
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

// ---- matrices ----------------------------------------------------------------------------------
KERNEL(triangle_times_matrix) {  // c = a b, p by p, a's lower triangle: 32 by 32 a block of 32 by 8
  __shared__ float left[32][32], right[32][32];
  const unsigned u = threadIdx.x, v = threadIdx.y, x = blockIdx.x * 32 + u, y = blockIdx.y * 32;
  float sum[4] = {};
  for (unsigned k = 0; k <= y; k += 32) {
#pragma unroll
    for (unsigned r = 0; r < 32; r += 8) {
      left[v + r][u] = k + u <= y + v + r ? a[(y + v + r) * p + k + u] : 0.0f;
      right[v + r][u] = b[(k + v + r) * p + x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 32; ++j)
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) sum[r] += left[v + 8 * r][j] * right[j][u];
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) c[(y + v + 8 * r) * p + x] = sum[r];
}
KERNEL(ways_through_tiles) {  // the shortest of two parts, p by p: 32 by 32 a block of 16 by 16
  __shared__ float left[32][17], right[16][32];
  const unsigned u = threadIdx.x, v = threadIdx.y, x = blockIdx.x * 32 + u, y = blockIdx.y * 32 + v;
  float best[2][2] = {{1e30f, 1e30f}, {1e30f, 1e30f}};
  for (unsigned k = 0; k < p; k += 16) {
    left[v][u] = a[y * p + k + u], left[v + 16][u] = a[(y + 16) * p + k + u];
    right[v][u] = b[(k + v) * p + x], right[v][u + 16] = b[(k + v) * p + x + 16];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j)
#pragma unroll
      for (unsigned r = 0; r < 2; ++r)
#pragma unroll
        for (unsigned s = 0; s < 2; ++s)
          best[r][s] = fminf(best[r][s], left[v + 16 * r][j] + right[j][u + 16 * s]);
    __syncthreads();
  }
#pragma unroll
  for (unsigned r = 0; r < 2; ++r)
#pragma unroll
    for (unsigned s = 0; s < 2; ++s) c[(y + 16 * r) * p + x + 16 * s] = best[r][s];
}
