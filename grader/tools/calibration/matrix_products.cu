// Products of matrices, in tiles and without.
#include "kernel_kit.h"

KERNEL(product_plain) {  // c = a b, p by p
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[y * p + k] * b[k * p + x];
  c[y * p + x] = s;
}

KERNEL(product_tile) {  // blocks of 32 by 32
  __shared__ float left[32][32], right[32][32];
  unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  float s = 0;
  for (unsigned t = 0; t < p; t += 32) {
    left[threadIdx.y][threadIdx.x] = a[y * p + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * p + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 32; ++k) s += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * p + x] = s;
}

KERNEL(product_16) {  // c = a b, p by p, blocks of 16 by 16
  __shared__ float left[16][16], right[16][17];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float s = 0;
  for (unsigned t = 0; t < p; t += 16) {
    left[threadIdx.y][threadIdx.x] = a[y * p + t + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * p + x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) s += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[y * p + x] = s;
}

KERNEL(product_quads) {  // c = a b, p by p: 64 by 64 a block of 256, 4 by 4 a thread
  __shared__ float left[16][64], right[16][64];
  const unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const unsigned row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (unsigned t = 0; t < p; t += 16) {
#pragma unroll
    for (unsigned k = 0; k < 4; ++k) {
      const unsigned i = threadIdx.x + k * 256;
      left[i % 16][i / 16] = a[(row + i / 16) * p + t + i % 16];
      right[i / 64][i % 64] = b[(t + i / 64) * p + column + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      float x[4], y[4];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) x[j] = left[k][ty * 4 + j], y[j] = right[k][tx + j * 16];
#pragma unroll
      for (unsigned j = 0; j < 4; ++j)
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) sum[j][i] += x[j] * y[i];
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned j = 0; j < 4; ++j)
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) c[(row + ty * 4 + j) * p + column + tx + i * 16] = sum[j][i];
}

KERNEL(product_tall_tile) {  // c = a b, p by p: 32 by 32 a block of 32 by 8, four rows a thread
  __shared__ float left[32][32], right[32][33];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 32, column = blockIdx.x * 32;
  float sum[4] = {};
  for (unsigned t = 0; t < p; t += 32) {
    for (unsigned k = 0; k < 32; k += 8) {
      left[y + k][x] = a[(row + y + k) * p + t + x];
      right[y + k][x] = b[(t + y + k) * p + column + x];
    }
    __syncthreads();
#pragma unroll 8
    for (unsigned k = 0; k < 32; ++k)
      for (unsigned j = 0; j < 4; ++j) sum[j] += left[y + 8 * j][k] * right[k][x];
    __syncthreads();
  }
  for (unsigned j = 0; j < 4; ++j) c[(row + y + 8 * j) * p + column + x] = sum[j];
}

KERNEL(product_by_rows) {  // c = a b, p by p: a thread an element, each row of threads a row of c
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float s = 0;
  for (unsigned k = 0; k < p; ++k) s += a[y * p + k] * b[k * p + x];
  c[y * p + x] = s;
}

KERNEL(product_in_tiles) {  // c = a b, p by p, tiles of 16 by 16
  __shared__ float left[16][16], right[16][16];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float s = 0;
  for (unsigned t = 0; t < p; t += 16) {
    left[y][x] = a[row * p + t + x];
    right[y][x] = b[(t + y) * p + column];
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) s += left[y][k] * right[k][x];
    __syncthreads();
  }
  c[row * p + column] = s;
}

KERNEL(small_products) {  // of matrices of four by four, one a thread
  const unsigned i = first();
  if (i >= n) return;
  const float4* left = reinterpret_cast<const float4*>(a) + i * 4;
  const float4* right = reinterpret_cast<const float4*>(b) + i * 4;
  const float4 r0 = right[0], r1 = right[1], r2 = right[2], r3 = right[3];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const float4 l = left[k];
    reinterpret_cast<float4*>(c)[i * 4 + k] =
        make_float4(l.x * r0.x + l.y * r1.x + l.z * r2.x + l.w * r3.x,
                    l.x * r0.y + l.y * r1.y + l.z * r2.y + l.w * r3.y,
                    l.x * r0.z + l.y * r1.z + l.z * r2.z + l.w * r3.z,
                    l.x * r0.w + l.y * r1.w + l.z * r2.w + l.w * r3.w);
  }
}

KERNEL(product_in_registers) {  // c = a b, p by p: 64 by 64 a block of 16 by 16, 4 by 4 a thread
  __shared__ float left[16][65], right[16][64];
  const unsigned x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
  const unsigned row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (unsigned k0 = 0; k0 < p; k0 += 16) {
    for (unsigned i = t; i < 1024; i += 256) {
      left[i % 16][i / 16] = a[(row + i / 16) * p + k0 + i % 16];
      right[i / 64][i % 64] = b[(k0 + i / 64) * p + column + i % 64];
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < 16; ++k) {
      float u[4], v[4];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) u[i] = left[k][y * 4 + i], v[i] = right[k][x + 16 * i];
#pragma unroll
      for (unsigned i = 0; i < 4; ++i)
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) sum[i][j] += u[i] * v[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i)
#pragma unroll
    for (unsigned j = 0; j < 4; ++j) c[(row + y * 4 + i) * p + column + x + 16 * j] = sum[i][j];
}

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

KERNEL(ways_through_one) {  // p by p: is the way through vertex q shorter (Floyd and Warshall)?
  const unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= p || y >= p) return;
  c[y * p + x] = fminf(a[y * p + x], a[y * p + q] + a[q * p + x] - 1.5f);
}
