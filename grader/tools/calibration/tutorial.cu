// A fifth set of kernels as courses on CUDA have them, with those of practice.cu, set apart like
// those of course.cu, lecture.cu, seminar.cu and workshop.cu and written after these had been
// looked at: they, their launches (set *apart* of data/measured/model/launches.csv, from 1011 on)
// and what the model said of them were committed before any of them had been measured. The
// signature and the contents of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- images and fields -------------------------------------------------------------------------
KERNEL(sharpened) {  // p by q: a point against the mean of its nine neighbours
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  float sum = 0;
#pragma unroll
  for (int v = -1; v <= 1; ++v)
#pragma unroll
    for (int u = -1; u <= 1; ++u) sum += a[(y + v) * p + x + u];
  const float mid = a[y * p + x], sharp = mid + 0.7f * (mid - sum * (1.0f / 9));
  c[y * p + x] = fminf(fmaxf(sharp, 0.0f), 2.0f);
}
KERNEL(warped_by_field) {  // p by q, each point taken from where b says, up to 16 points away
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const float d = b[y * p + x] - 1;
  const float u = fminf(static_cast<float>(x) + 16 * d, static_cast<float>(p - 2));
  const float v = fminf(static_cast<float>(y) + 4 * d, static_cast<float>(q - 2));
  const unsigned i = static_cast<unsigned>(u), j = static_cast<unsigned>(v);
  const float s = u - static_cast<float>(i), t = v - static_cast<float>(j);
  const float* at = a + j * p + i;
  c[y * p + x] = (at[0] * (1 - s) + at[1] * s) * (1 - t) + (at[p] * (1 - s) + at[p + 1] * s) * t;
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
KERNEL(widened_lines) {  // the largest of 17 neighbours, blocks of 256
  __shared__ float line[256 + 16];
  const unsigned i = first();
  for (unsigned k = threadIdx.x; k < 272; k += 256) {
    const unsigned at = blockIdx.x * 256 + k;
    line[k] = at >= 8 && at - 8 < n ? a[at - 8] : 0;
  }
  __syncthreads();
  float most = line[threadIdx.x];
#pragma unroll
  for (int k = 1; k < 17; ++k) most = fmaxf(most, line[threadIdx.x + k]);
  if (i < n) c[i] = most;
}
KERNEL(median_of_cross) {  // p by q: of a point and its four neighbours
  const unsigned x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const unsigned i = y * p + x;
  float v[5] = {a[i - p], a[i - 1], a[i], a[i + 1], a[i + p]};
  const auto order = [&v](int s, int t) {
    const float low = fminf(v[s], v[t]);
    v[t] = fmaxf(v[s], v[t]), v[s] = low;
  };
  order(0, 1), order(3, 4), order(2, 4), order(2, 3), order(0, 3), order(0, 2), order(1, 4);
  order(1, 3), order(1, 2);
  c[i] = v[2];
}

// ---- matrices ----------------------------------------------------------------------------------
KERNEL(product_of_doubles) {  // p by p, tiles of 16 by 16
  __shared__ double left[16][16], right[16][17];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  double sum = 0;
  for (unsigned k = 0; k < p; k += 16) {
    left[y][x] = real(a, row * p + k + x);
    right[y][x] = real(b, (k + y) * p + column);
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) sum += left[y][j] * right[j][x];
    __syncthreads();
  }
  reals(c)[row * p + column] = sum;
}
KERNEL(product_with_turned) {  // c = a b', p by p, tiles of 32 by 32, four rows a thread
  __shared__ float left[32][33], right[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  float sum[4] = {};
  for (unsigned k = 0; k < p; k += 32) {
    for (unsigned r = y; r < 32; r += 8) {
      left[r][x] = a[(blockIdx.y * 32 + r) * p + k + x];
      right[r][x] = b[(blockIdx.x * 32 + r) * p + k + x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 32; ++j) {
      const float v = right[x][j];
#pragma unroll
      for (unsigned r = 0; r < 4; ++r) sum[r] += left[y + 8 * r][j] * v;
    }
    __syncthreads();
  }
  for (unsigned r = 0; r < 4; ++r)
    c[(blockIdx.y * 32 + y + 8 * r) * p + blockIdx.x * 32 + x] = sum[r];
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
KERNEL(channels_last) {  // p planes of n / p points: the p values of a point side by side
  const unsigned i = first();
  if (i >= n) return;
  const unsigned points = n / p, plane = i / points, point = i % points;
  c[point * p + plane] = a[i] * 0.5f;
}
KERNEL(turned_by_quads) {  // p by p, tiles of 32 by 32, blocks of 8 by 32: four words a thread
  __shared__ float tile[32][33];
  const unsigned x = 4 * threadIdx.x, y = threadIdx.y;
  const float4 v =
      reinterpret_cast<const float4*>(a)[((blockIdx.y * 32 + y) * p + blockIdx.x * 32 + x) / 4];
  tile[y][x] = v.x, tile[y][x + 1] = v.y, tile[y][x + 2] = v.z, tile[y][x + 3] = v.w;
  __syncthreads();
  reinterpret_cast<float4*>(c)[((blockIdx.x * 32 + y) * p + blockIdx.y * 32 + x) / 4] =
      make_float4(tile[x][y], tile[x + 1][y], tile[x + 2][y], tile[x + 3][y]);
}
KERNEL(doubles_times_vector) {  // n rows of p doubles, a warp a row
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  double sum = 0;
  for (unsigned k = lane; k < p; k += 32) sum += real(a, row * p + k) * real(b, k);
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (lane == 0) reals(c)[row] = sum;
}

// ---- sums and scans ----------------------------------------------------------------------------
KERNEL(spread_of_rows) {  // a block a row of p words: mean and variance, read twice
  __shared__ float part[8];
  const float* row = a + blockIdx.x * p;
  const auto whole = [&](float s) {
    for (unsigned step = 16; step > 0; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
    for (unsigned k = 0; k < 8; ++k) s += part[k];
    return s;
  };
  float sum = 0, squares = 0;
  for (unsigned k = threadIdx.x; k < p; k += 256) sum += row[k];
  const float mean = whole(sum) / static_cast<float>(p);
  for (unsigned k = threadIdx.x; k < p; k += 256) squares += (row[k] - mean) * (row[k] - mean);
  const float spread = whole(squares) / static_cast<float>(p);
  if (threadIdx.x == 0) c[2 * blockIdx.x] = mean, c[2 * blockIdx.x + 1] = spread;
}
KERNEL(best_two_of_rows) {  // a warp a row of p words: the largest two, and where the first lies
  const unsigned row = first() / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  float best = -1, second = -1;
  unsigned where = 0;
  for (unsigned k = lane; k < p; k += 32) {
    const float v = a[row * p + k];
    if (v > best)
      second = best, best = v, where = k;
    else if (v > second)
      second = v;
  }
  for (unsigned step = 16; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(~0u, best, step), next = __shfl_xor_sync(~0u, second, step);
    const unsigned there = __shfl_xor_sync(~0u, where, step);
    second = fmaxf(fminf(best, other), fmaxf(second, next));
    if (other > best || (other == best && there < where)) best = other, where = there;
  }
  if (lane == 0) c[3 * row] = best, c[3 * row + 1] = second, words(c)[3 * row + 2] = where;
}
KERNEL(sum_with_remainder) {  // by Kahan, n words, all threads walk; a sum a warp
  float sum = 0, lost = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const float v = a[i] - lost, next = sum + v;
    lost = (next - sum) - v;
    sum = next;
  }
  for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(c, sum);
}
KERNEL(dot_of_complex) {  // n pairs, four a thread in turn
  __shared__ float part[256];
  float sum = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const float2 u = reinterpret_cast<const float2*>(a)[i],
                 v = reinterpret_cast<const float2*>(b)[i];
    sum += u.x * v.x + u.y * v.y;
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) c[blockIdx.x] = part[0];
}
KERNEL(scan_of_segments) {  // blocks of 256: sums start anew where a word's last three bits are 0
  __shared__ float sum[2][256];
  __shared__ unsigned begun[2][256];
  const unsigned i = first(), t = threadIdx.x;
  sum[0][t] = a[i], begun[0][t] = (word(a, i) & 7) == 0;
  __syncthreads();
  unsigned from = 0;
  for (unsigned step = 1; step < 256; step *= 2, from ^= 1) {
    float s = sum[from][t];
    unsigned f = begun[from][t];
    if (t >= step) {
      if (!f) s += sum[from][t - step];
      f |= begun[from][t - step];
    }
    sum[from ^ 1][t] = s, begun[from ^ 1][t] = f;
    __syncthreads();
  }
  c[i] = sum[from][t];
}
KERNEL(scan_in_registers) {  // blocks of 128, eight words a thread
  __shared__ float part[4];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float4* from = reinterpret_cast<const float4*>(a) + 2 * first();
  const float4 u = from[0], v = from[1];
  float s[8] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 1; k < 8; ++k) s[k] += s[k - 1];
  float up = s[7];
  for (unsigned step = 1; step < 32; step *= 2) {
    const float other = __shfl_up_sync(~0u, up, step);
    if (lane >= step) up += other;
  }
  if (lane == 31) part[warp] = up;
  __syncthreads();
  float before = up - s[7];
  for (unsigned k = 0; k < warp; ++k) before += part[k];
  float4* to = reinterpret_cast<float4*>(c) + 2 * first();
  to[0] = make_float4(before + s[0], before + s[1], before + s[2], before + s[3]);
  to[1] = make_float4(before + s[4], before + s[5], before + s[6], before + s[7]);
}
