// A sixth set of kernels as courses on CUDA have them, with those of homework.cu, set apart like
// those of course.cu, lecture.cu, seminar.cu, workshop.cu and tutorial.cu and written after these
// had been looked at: they and their launches (set *apart* of data/measured/model/launches.csv,
// from 1081 on) were committed before any of them had been measured. The signature and the contents
// of the arrays are those of kernels.cu.
#include "course_kernel.h"

// ---- images and fields -------------------------------------------------------------------------
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
KERNEL(luma_and_chroma) {  // p by q colours of four bytes: a grey byte each, two more for each four
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (2 * x >= p || 2 * y >= q) return;
  unsigned char *grey = reinterpret_cast<unsigned char*>(c), *blue = grey + p * q;
  unsigned char* red = blue + p * q / 4;
  int r = 0, g = 0, b4 = 0;
#pragma unroll
  for (unsigned v = 0; v < 2; ++v) {
    const uint2 two = reinterpret_cast<const uint2*>(a)[((2 * y + v) * p + 2 * x) / 2];
    unsigned char light[2];
#pragma unroll
    for (unsigned u = 0; u < 2; ++u) {
      const unsigned w = u == 0 ? two.x : two.y;
      const int s = w & 255, t = w >> 8 & 255, z = w >> 16 & 255;
      light[u] = static_cast<unsigned char>((66 * s + 129 * t + 25 * z + 4224) >> 8);
      r += s, g += t, b4 += z;
    }
    reinterpret_cast<uchar2*>(grey)[((2 * y + v) * p + 2 * x) / 2] =
        make_uchar2(light[0], light[1]);
  }
  const unsigned i = y * (p / 2) + x;
  blue[i] = static_cast<unsigned char>((-38 * r - 74 * g + 112 * b4 + 131584) >> 10);
  red[i] = static_cast<unsigned char>((112 * r - 94 * g - 18 * b4 + 131584) >> 10);
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

// ---- vectors and matrices ----------------------------------------------------------------------
KERNEL(rotated_by_few) {  // two rows of n doubles, turned in their plane by a few blocks
  for (unsigned i = first(); i < n; i += gridDim.x * blockDim.x) {
    const double x = real(a, i), y = real(b, i);
    reals(c)[i] = 0.8 * x + 0.6 * y;
    reals(c)[n + i] = 0.8 * y - 0.6 * x;
  }
}
KERNEL(turned_rectangle) {  // q rows of p words, any numbers of them: tiles of 32 by 32
  __shared__ float tile[32][33];
  const unsigned u = threadIdx.x;
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    const unsigned x = blockIdx.x * 32 + u, y = blockIdx.y * 32 + v;
    if (x < p && y < q) tile[v][u] = a[y * p + x];
  }
  __syncthreads();
  for (unsigned v = threadIdx.y; v < 32; v += 8) {
    const unsigned x = blockIdx.y * 32 + u, y = blockIdx.x * 32 + v;
    if (x < q && y < p) c[y * q + x] = tile[u][v];
  }
}
KERNEL(product_double_buffered) {  // p by p: 64 by 64 a block of 256; the next tiles come meanwhile
  __shared__ float4 left[2][16][17], right[2][16][16];
  const unsigned t = threadIdx.x, x = t % 16, y = t / 16;
  const float4* from = reinterpret_cast<const float4*>(a + (blockIdx.y * 64 + t / 4) * p) + t % 4;
  const float4* other = reinterpret_cast<const float4*>(b + y * p + blockIdx.x * 64) + x;
  const auto put = [&](unsigned half, float4 u, float4 v) {
    float* column = reinterpret_cast<float*>(left[half][t % 4 * 4]) + t / 4;
    column[0] = u.x, column[68] = u.y, column[136] = u.z, column[204] = u.w;
    right[half][y][x] = v;
  };
  float4 sum[4] = {};
  put(0, from[0], other[0]);
  __syncthreads();
  for (unsigned k = 0, half = 0; k < p; k += 16, half ^= 1) {
    float4 u = {}, v = {};
    const bool more = k + 16 < p;
    if (more) from += 4, other += 4 * p, u = *from, v = *other;
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) {
      const float4 l = left[half][j][y], r = right[half][j][x];
      const float of[4] = {l.x, l.y, l.z, l.w};
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
        sum[i].x += of[i] * r.x, sum[i].y += of[i] * r.y, sum[i].z += of[i] * r.z,
            sum[i].w += of[i] * r.w;
    }
    if (more) put(half ^ 1, u, v);
    __syncthreads();
  }
  for (unsigned i = 0; i < 4; ++i)
    reinterpret_cast<float4*>(c + (blockIdx.y * 64 + 4 * y + i) * p + blockIdx.x * 64)[x] = sum[i];
}
KERNEL(product_of_bytes) {  // c = a b', p by p bytes to words: 32 by 32 a block of 16 by 16
  __shared__ int left[32][17], right[32][17];
  const unsigned x = threadIdx.x, y = threadIdx.y, width = p / 4;
  const int *from = reinterpret_cast<const int*>(a), *other = reinterpret_cast<const int*>(b);
  int sum[2][2] = {};
  for (unsigned k = 0; k < width; k += 16) {
    for (unsigned r = y; r < 32; r += 16) {
      left[r][x] = from[(blockIdx.y * 32 + r) * width + k + x];
      right[r][x] = other[(blockIdx.x * 32 + r) * width + k + x];
    }
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j)
#pragma unroll
      for (unsigned r = 0; r < 4; ++r)
        sum[r / 2][r % 2] =
            __dp4a(left[y + r / 2 * 16][j], right[x + r % 2 * 16][j], sum[r / 2][r % 2]);
    __syncthreads();
  }
  for (unsigned r = 0; r < 4; ++r)
    reinterpret_cast<int*>(
        c)[(blockIdx.y * 32 + y + r / 2 * 16) * p + blockIdx.x * 32 + x + r % 2 * 16] =
        sum[r / 2][r % 2];
}
KERNEL(product_of_complex) {  // c = a b, p by p complex numbers, tiles of 16 by 16
  __shared__ float2 left[16][16], right[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float2 sum = {};
  for (unsigned k = 0; k < p; k += 16) {
    left[y][x] = reinterpret_cast<const float2*>(a)[row * p + k + x];
    right[y][x] = reinterpret_cast<const float2*>(b)[(k + y) * p + column];
    __syncthreads();
#pragma unroll
    for (unsigned j = 0; j < 16; ++j) {
      const float2 u = left[y][j], v = right[j][x];
      sum.x += u.x * v.x - u.y * v.y;
      sum.y += u.x * v.y + u.y * v.x;
    }
    __syncthreads();
  }
  reinterpret_cast<float2*>(c)[row * p + column] = sum;
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
KERNEL(sum_by_last_block) {  // n words; the block that ends last adds what the others have stored
  __shared__ float part[8];
  __shared__ bool last;
  const unsigned t = threadIdx.x;
  const auto whole = [&](float s) {
    for (unsigned step = 16; step > 0; step /= 2) s += __shfl_down_sync(~0u, s, step);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    s = 0;
    if (t == 0)
      for (unsigned k = 0; k < 8; ++k) s += part[k];
    return s;
  };
  float sum = 0;
  for (unsigned i = first(); i < n; i += gridDim.x * 256) sum += a[i];
  sum = whole(sum);
  if (t == 0) {
    c[2 + blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(words(c) + 1, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned k = t; k < gridDim.x; k += 256) sum += static_cast<volatile float*>(c)[2 + k];
  sum = whole(sum);
  if (t == 0) c[0] = sum;
}
