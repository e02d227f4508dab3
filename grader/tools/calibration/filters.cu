// Filters of images and signals: each result from a window of the input.
#include "kernel_kit.h"

KERNEL(pool_squares) {  // rows of p words, an even number: the largest of each two by two
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (2 * x >= p || 2 * y >= q) return;
  const float* at = a + 2 * y * p + 2 * x;
  c[y * (p / 2) + x] = fmaxf(fmaxf(at[0], at[1]), fmaxf(at[p], at[p + 1]));
}

KERNEL(edges) {  // rows of p words, q rows: Sobel's gradient
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x,
                 y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  const float* at = a + y * p + x;
  const int r = static_cast<int>(p);
  const float u = at[-r + 1] + 2 * at[1] + at[r + 1] - at[-r - 1] - 2 * at[-1] - at[r - 1];
  const float v = at[r - 1] + 2 * at[r] + at[r + 1] - at[-r - 1] - 2 * at[-r] - at[-r + 1];
  c[y * p + x] = sqrtf(u * u + v * v);
}

KERNEL(blur_rows) {  // 1-D blur of radius 8 of rows of p words, a row's part in shared memory
  __shared__ float part[256 + 16];
  const unsigned x = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y * p;
  for (unsigned k = threadIdx.x; k < 272; k += 256) {
    const unsigned from = blockIdx.x * 256 + k;
    part[k] = from >= 8 && from < p + 8 ? a[row + from - 8] : 0;
  }
  __syncthreads();
  float s = 0;
#pragma unroll
  for (unsigned k = 0; k <= 16; ++k) s += part[threadIdx.x + k];
  c[row + x] = s * (1.0f / 17);
}

KERNEL(median_of_nine) {  // p by q: by sorting in registers
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= q) return;
  float v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = a[(y + k / 3 - 1) * p + x + k % 3 - 1];
#pragma unroll
  for (int i = 0; i < 5; ++i)
#pragma unroll
    for (int k = 0; k < 8 - i; ++k) {
      const float low = fminf(v[k], v[k + 1]);
      v[k + 1] = fmaxf(v[k], v[k + 1]), v[k] = low;
    }
  c[y * p + x] = v[4];
}

KERNEL(shrink_by_four) {  // p by q: the mean of four by four
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (4 * x >= p || 4 * y >= q) return;
  float s = 0;
  for (unsigned v = 0; v < 4; ++v) {
    const float4 four = reinterpret_cast<const float4*>(a)[(4 * y + v) * (p / 4) + x];
    s += four.x + four.y + four.z + four.w;
  }
  c[y * (p / 4) + x] = s / 16;
}

KERNEL(edges_of_image) {  // p by q: Sobel's, a tile with its margin in shared memory
  __shared__ float tile[18][20];
  const unsigned x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
  for (unsigned i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    const unsigned x = x0 + i % 18, y = y0 + i / 18;
    tile[i / 18][i % 18] = x > 0 && x <= p && y > 0 && y <= q ? a[(y - 1) * p + x - 1] : 0;
  }
  __syncthreads();
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const float u = tile[y][x + 2] + 2 * tile[y + 1][x + 2] + tile[y + 2][x + 2] - tile[y][x] -
                  2 * tile[y + 1][x] - tile[y + 2][x];
  const float v = tile[y + 2][x] + 2 * tile[y + 2][x + 1] + tile[y + 2][x + 2] - tile[y][x] -
                  2 * tile[y][x + 1] - tile[y][x + 2];
  c[(y0 + y) * p + x0 + x] = sqrtf(u * u + v * v);
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

KERNEL(turned_image) {  // p by p (a power of two), turned by some angle, the nearest point
  const unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  const float half = 0.5f * static_cast<float>(p);
  const float u = static_cast<float>(x) - half, v = static_cast<float>(y) - half;
  const unsigned i = static_cast<unsigned>(static_cast<int>(0.8f * u - 0.6f * v + half));
  const unsigned j = static_cast<unsigned>(static_cast<int>(0.6f * u + 0.8f * v + half));
  c[y * p + x] = i < p && j < p ? a[j * p + i] : 0;
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

KERNEL(eroded_by_bits) {  // q rows of p words, a bit a point: set if it and its neighbours all are
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  unsigned kept = ~0u;
#pragma unroll
  for (int v = -1; v <= 1; ++v) {
    if (y + v >= q) continue;
    const unsigned at = (y + v) * p + x, here = word(a, at);
    const unsigned left = x > 0 ? word(a, at - 1) : ~0u, right = x + 1 < p ? word(a, at + 1) : ~0u;
    kept &= here & __funnelshift_l(left, here, 1) & __funnelshift_r(here, right, 1);
  }
  words(c)[y * p + x] = kept;
}

KERNEL(seeds_flooded) {  // p by p (a power of two): the nearest of the seeds that nine points know
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= p) return;
  unsigned best = 0, least = ~0u;
#pragma unroll
  for (int v = -1; v <= 1; ++v)
#pragma unroll
    for (int u = -1; u <= 1; ++u) {
      const unsigned s = x + u * q, t = y + v * q;  // q: how far away they are
      if (s >= p || t >= p) continue;
      const unsigned seed = word(a, t * p + s);
      if ((seed >> 26 & 3) == 0) continue;  // none there
      const int along = static_cast<int>(seed & (p - 1)) - static_cast<int>(x);
      const int across = static_cast<int>(seed >> 13 & (p - 1)) - static_cast<int>(y);
      const unsigned far = along * along + across * across;
      if (far < least) least = far, best = seed;
    }
  words(c)[y * p + x] = best;
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

KERNEL(layers_convolved) {  // sixteen layers of p by p, 3 by 3 points of each, to q layers
  __shared__ float weight[144];
  const unsigned tiles = p / 16, t = threadIdx.y * 16 + threadIdx.x;
  const unsigned x = blockIdx.x % tiles * 16 + threadIdx.x;
  const unsigned y = blockIdx.x / tiles * 16 + threadIdx.y;
  if (t < 144) weight[t] = b[blockIdx.y * 144 + t];
  __syncthreads();
  if (x == 0 || y == 0 || x + 1 >= p || y + 1 >= p) return;
  float sum = 0;
  for (unsigned layer = 0; layer < 16; ++layer)
#pragma unroll
    for (unsigned k = 0; k < 9; ++k)
      sum += weight[layer * 9 + k] * a[(layer * p + y + k / 3 - 1) * p + x + k % 3 - 1];
  c[(blockIdx.y * p + y) * p + x] = fmaxf(sum - 200, 0.0f);
}

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

KERNEL(mosaic_undone) {  // p by q greys under red, green and blue in turn (Bayer): all three each
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned left = x > 0 ? x - 1 : 1, right = x + 1 < p ? x + 1 : p - 2;
  const float *row = a + y * p, *up = a + (y > 0 ? y - 1 : 1) * p;
  const float* down = a + (y + 1 < q ? y + 1 : q - 2) * p;
  const float across = (row[left] + row[right]) / 2, along = (up[x] + down[x]) / 2;
  float own = row[x], other = (up[left] + up[right] + down[left] + down[right]) / 4;
  float green = (across + along) / 2;  // a red or blue point, or else a green one
  if ((x ^ y) & 1) green = own, own = across, other = along;
  c[y * p + x] = y & 1 ? other : own;
  c[(q + y) * p + x] = green;
  c[(2 * q + y) * p + x] = y & 1 ? own : other;
}

KERNEL(hills_lit) {  // p by q heights: how bright each is, by Horn's slopes
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= q) return;
  const unsigned left = max(x, 1u) - 1, right = min(x + 1, p - 1);
  const float *up = a + (max(y, 1u) - 1) * p, *row = a + y * p, *down = a + min(y + 1, q - 1) * p;
  const float west = up[left] + 2 * row[left] + down[left];
  const float dx = up[right] + 2 * row[right] + down[right] - west;
  const float dy = down[left] + 2 * down[x] + down[right] - up[left] - 2 * up[x] - up[right];
  c[y * p + x] = fmaxf((1 + 0.6f * dx - 0.4f * dy) * rsqrtf(1 + dx * dx + dy * dy), 0);
}

KERNEL(boxes_from_sums) {  // p by q: means of boxes, b says how wide, from a's sums to each point
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const int width = p, height = q;
  if (x >= width || y >= height) return;
  const int radius = 1 + static_cast<int>(16 * (b[y * width + x] - 1));
  const int left = max(x - radius, 0), right = min(x + radius, width - 1);
  const int top = max(y - radius, 0), bottom = min(y + radius, height - 1);
  const float sum = a[bottom * width + right] - a[bottom * width + left] - a[top * width + right] +
                    a[top * width + left];
  c[y * width + x] = sum / static_cast<float>((right - left) * (bottom - top));
}

KERNEL(lines_spread_out) {  // p lines of n words to gridDim.y of 2 n: four taps each, two apart
  const unsigned i = first(), line = blockIdx.y;
  if (i >= n) return;
  float even = 0, odd = 0;
  for (unsigned k = 0; k < p; ++k) {
    const float* from = a + k * n + i;
    const float4 tap = quads(b)[line * p + k];
    even += from[0] * tap.y + (i > 0 ? from[-1] : 0) * tap.w;
    odd += from[0] * tap.z + (i + 1 < n ? from[1] : 0) * tap.x;
  }
  reinterpret_cast<float2*>(c)[line * n + i] = make_float2(even, odd);
}

KERNEL(biquads_over_channels) {  // q times n channels, one a thread: a filter of second order each
  const unsigned i = first();
  if (i >= n) return;
  const float by = b[i] - 1;
  float s = 0, t = 0;
#pragma unroll 8
  for (unsigned k = 0; k < q; ++k) {
    const float in = a[k * n + i], out = 0.2f * in + s;
    s = 0.4f * in + 1.2f * by * out + t;
    t = 0.2f * in - 0.5f * by * out;
    c[k * n + i] = out;
  }
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

KERNEL(columns_summed_up) {  // p by q: sums down each column, a thread a column
  const unsigned x = first();
  if (x >= p) return;
  float sum = 0;
#pragma unroll 4
  for (unsigned y = 0; y < q; ++y) {
    sum += a[y * p + x];
    c[y * p + x] = sum;
  }
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

KERNEL(filter_taps) {  // p taps of b over a line
  const unsigned i = first();
  if (i >= n) return;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += b[k] * a[i + k];
  c[i] = s;
}

KERNEL(smooth_line) {  // radius 8, blocks of 256
  __shared__ float line[256 + 16];
  unsigned i = first();
  line[threadIdx.x + 8] = i < n ? a[i] : 0;
  if (threadIdx.x < 8) line[threadIdx.x] = i >= 8 ? a[i - 8] : 0;
  if (threadIdx.x >= 248) line[threadIdx.x + 16] = i + 8 < n ? a[i + 8] : 0;
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k <= 16; ++k) s += line[threadIdx.x + k];
  if (i < n) c[i] = s;
}
