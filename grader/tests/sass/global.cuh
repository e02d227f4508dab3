// Accesses to global memory as the labs write them: contiguous, strided, by structures, as vectors.
#pragma once

#include <cstdint>

extern "C" {

__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void add_restrict(const float* __restrict__ x, const float* __restrict__ y,
                             float* __restrict__ z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + y[i];
}

__global__ void add_swapped(const float* x, const float* y, float* z) {
  int i = blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
  z[i] = x[i] + y[i];
}

__global__ void strided_copy(const float* in, float* out, int n, int stride) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
  if (i < n) out[i] = in[i];
}

// A grid-stride loop: ptxas unrolls it by four, with a remainder.
__global__ void scale_grid_stride(float* x, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] = a * x[i];
  }
}

// Each thread walks its own sixteen neighbours.
__global__ void scale_own_run(const float* in, float* out, float a, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
  for (int k = 0; k < 16; ++k) {
    if (first + k < n) out[first + k] = a * in[first + k];
  }
}

// The same without the check: the compiler may not merge what it does not know to be aligned.
__global__ void sum_own_run(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 8; ++k) sum += in[i * 8 + k];
  out[i] = sum;
}

struct Particle {
  float x, y, z, mass;
  float u, v, w, charge;
};

__global__ void aos_one_field(const Particle* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = p[i].mass;
}

__global__ void aos_move(Particle* p, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += dt * p[i].u;
  p[i].y += dt * p[i].v;
  p[i].z += dt * p[i].w;
}

__global__ void soa_move(float* x, float* y, const float* u, const float* v, float dt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] += dt * u[i];
  y[i] += dt * v[i];
}

struct Float3 {
  float x, y, z;
};

__global__ void lengths(const Float3* p, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = sqrtf(p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z);
}

__global__ void copy_float4(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

// float4 for the bulk, single floats for the tail.
__global__ void scale_float4_tail(const float* in, float* out, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int quads = n / 4;
  if (i < quads) {
    float4 v = reinterpret_cast<const float4*>(in)[i];
    v.x *= a;
    v.y *= a;
    v.z *= a;
    v.w *= a;
    reinterpret_cast<float4*>(out)[i] = v;
  }
  if (i < n - 4 * quads) out[4 * quads + i] = a * in[4 * quads + i];
}

// An int4 whose middle nobody reads.
__global__ void int4_ends(const int4* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int4 v = in[i];
  out[i] = v.x + v.w;
}

// … whose upper half nobody reads: a narrower load does.
__global__ void int4_low_half(const int4* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int4 v = in[i];
  out[i] = v.x + v.y;
}

__global__ void int4_last(const int4* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i].w;
}

__global__ void bytes_to_words(const uint8_t* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void shorts_and_doubles(const short* a, const double* b, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] * b[i];
}

// The second load is the first one again.
__global__ void same_load_twice(const float* __restrict__ in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = in[i];
  out[i] = a;
  float b = in[i];
  out[i + n] = a * b;
}

// Generic addresses: the PTX does not say which space.
__device__ __noinline__ float load_through(const float* p) { return *p; }

__global__ void called_function(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = load_through(in + i) + 1.0f;
}

__device__ inline float pick(const float* in, int i) {
  return in[i];
}

__global__ void inlined_function(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = pick(in, i) + pick(in, n - 1 - i);
}

// Short arms become predicated instructions.
__global__ void branchy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = in[i];
  if (v > 0) {
    out[i] = v;
  } else {
    out[i] = in[n - 1 - i];
  }
}

// Thirty-two-entry array indexed at run time: local memory.
__global__ void local_array(const int* in, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int seen[32];
  for (int k = 0; k < 32; ++k) seen[k] = k * k;
  seen[in[i] & 31] = 7;
  out[i] = seen[(in[i] >> 5) & 31];
}

__constant__ float coefficients[16];

__global__ void polynomial(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = 0;
  for (int k = 0; k < 16; ++k) v = v * in[i] + coefficients[k];
  out[i] = v;
}

// A loop whose trip count is known, over an array in global memory: unrolled whole.
__global__ void stencil(const float* __restrict__ in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 2 || i >= n - 2) return;
  float sum = 0;
#pragma unroll
  for (int k = -2; k <= 2; ++k) sum += in[i + k];
  out[i] = sum;
}

// A column a thread: a loop of unknown length, unrolled by the compiler.
__global__ void column_sum(const float* m, float* out, int rows, int columns) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += m[r * columns + c];
  out[c] = sum;
}

__global__ void row_sum(const float* m, float* out, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += m[r * columns + c];
  out[r] = sum;
}

}  // extern "C"
