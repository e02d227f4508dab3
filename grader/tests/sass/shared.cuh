// Accesses to shared memory as the labs write them: tiles, columns, neighbours, vectors.
#pragma once

#include <cstdint>

#include "cuda_pipeline.h"

extern "C" {

// Four neighbours at constant offsets: one LDS.128 a row.
__global__ void sum_quad(const int* in, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  if (t < 128) {
    int a = s[4 * t];
    int b = s[4 * t + 1];
    int c = s[4 * t + 2];
    int d = s[4 * t + 3];
    out[blockIdx.x * 128 + t] = a + 2 * b + 3 * c + 5 * d;
  }
}

// The same in a loop of known length.
__global__ void sum_quad_loop(const int* in, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  if (t < 128) {
    int sum = 0;
    for (int k = 0; k < 4; ++k) sum += (k + 1) * s[4 * t + k];
    out[blockIdx.x * 128 + t] = sum;
  }
}

// Stores of neighbours merge as well, where the alignment is known.
__global__ void store_quad(const int* in, int* out) {
  __shared__ int s[512];
  int t = threadIdx.x;
  int v = in[blockIdx.x * blockDim.x + t];
  s[4 * t] = v;
  s[4 * t + 1] = v + 1;
  s[4 * t + 2] = v * 3;
  s[4 * t + 3] = v ^ 5;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[t] + s[t + 128];
}

// Looks scalar: one thread a row of the tile, 32 neighbours, merged into eight LDS.128.
__global__ void tile_row_sum(const float* in, float* out) {
  __shared__ float tile[32][32];
  int t = threadIdx.x;
  for (int r = 0; r < 32; ++r) tile[r][t] = in[blockIdx.x * 1024 + r * 32 + t];
  __syncthreads();
  float sum = 0;
  for (int c = 0; c < 32; ++c) sum += tile[t][c];
  out[blockIdx.x * 32 + t] = sum;
}

// One thread a column: neighbours in time are not neighbours in memory.
__global__ void tile_column_sum(const float* in, float* out) {
  __shared__ float tile[32][32];
  int t = threadIdx.x;
  for (int r = 0; r < 32; ++r) tile[r][t] = in[blockIdx.x * 1024 + r * 32 + t];
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < 32; ++r) sum += tile[r][t];
  out[blockIdx.x * 32 + t] = sum;
}

// A padded row of 33 words: its alignment forbids merging.
__global__ void padded_row_sum(const float* in, float* out) {
  __shared__ float tile[32][33];
  int t = threadIdx.x;
  for (int r = 0; r < 32; ++r) tile[r][t] = in[blockIdx.x * 1024 + r * 32 + t];
  __syncthreads();
  float sum = 0;
  for (int c = 0; c < 32; ++c) sum += tile[t][c];
  out[blockIdx.x * 32 + t] = sum;
}

// A run of unknown length: neighbouring iterations merge only if ptxas knows the alignment.
__global__ void shared_run(const float* in, float* out, int length) {
  __shared__ float s[1024];
  int t = threadIdx.x;
  for (int k = t; k < 1024; k += blockDim.x) s[k] = in[k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < length; ++k) sum += s[k];
  out[blockIdx.x * blockDim.x + t] = sum * t;
}

__global__ void transpose_naive(const float* in, float* out, int n) {
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

__global__ void transpose_tile(const float* in, float* out, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void transpose_swizzled(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] =
      tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float sa[16][16];
  __shared__ float sb[16][16];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += 16) {
    sa[ty][tx] = a[row * n + k0 + tx];
    sb[ty][tx] = b[(k0 + ty) * n + column];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += sa[ty][k] * sb[k][tx];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void dynamic_reverse(const int* in, int* out) {
  extern __shared__ int dynamic[];
  int t = threadIdx.x;
  dynamic[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = dynamic[blockDim.x - 1 - t];
}

__global__ void stage_float4(const float4* in, float* out) {
  __shared__ float4 s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  const float* words = reinterpret_cast<const float*>(s);
  for (int k = 0; k < 4; ++k) out[blockIdx.x * 512 + k * 128 + t] = words[k * 128 + t];
}

__global__ void staged_structures(const float* in, float* out, int n) {
  __shared__ float s[256 * 8];
  int first = blockIdx.x * 256 * 8;
  for (int k = threadIdx.x; k < 256 * 8; k += 256) {
    if (first + k < n) s[k] = in[first + k];
  }
  __syncthreads();
  if (first + 8 * int(threadIdx.x) < n) out[blockIdx.x * 256 + threadIdx.x] = s[8 * threadIdx.x + 3];
}

__global__ void async_copy(const float4* in, float4* out) {
  __shared__ float4 s[128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], &in[blockIdx.x * 128 + t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[blockIdx.x * 128 + t] = s[127 - t];
}

// A store in between may alias: the second pair must be loaded again.
__global__ void store_between(int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  int a = s[t ^ 1];
  s[t] = a + 1;
  int b = s[t ^ 1];
  out[t] = a + b;
}

__global__ void volatile_loads(int* out) {
  __shared__ volatile int s[256];
  int t = threadIdx.x;
  s[4 * (t & 31)] = t;
  s[4 * (t & 31) + 1] = t + 1;
  out[t] = s[4 * (t & 31)] + s[4 * (t & 31) + 1];
}

__global__ void bytes_in_shared(const uint8_t* in, int* out) {
  __shared__ uint8_t s[1024];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[4 * (t & 63)] + s[4 * (t & 63) + 1];
}

__global__ void load_matrix(const uint4* in, unsigned* out) {
#if __CUDA_ARCH__ >= 750
  __shared__ uint4 s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&s[t]));
  unsigned r0, r1, r2, r3;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3)
               : "r"(at));
  out[t] = r0 + r1 + r2 + r3;
#endif
}

}  // extern "C"
