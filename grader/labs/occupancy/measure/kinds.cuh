// Kinds of memory: the same values from constant memory, shared memory, the read-only path or
// textures, or computed on the fly.
#pragma once

namespace kinds {

constexpr int kTable = 1024, kReads = 256;
__constant__ float constant_table[kTable];

// Each warp reads `addresses` different words per access.
__device__ inline int place(int k, int addresses, int places) {
  return (k * 37 + threadIdx.x % addresses * 33) % places;
}
__global__ void from_constant(float* out, int n, int addresses, int places) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kReads; ++k) sum += constant_table[place(k, addresses, places)];
  if (i < n) out[i] = sum;
}
__global__ void from_global(const float* table, float* out, int n, int addresses, int places) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kReads; ++k) sum += __ldg(table + place(k, addresses, places));
  if (i < n) out[i] = sum;
}
__global__ void from_shared(const float* table, float* out, int n, int addresses, int places) {
  __shared__ float copy[kTable];
  for (int k = threadIdx.x; k < kTable; k += blockDim.x) copy[k] = table[k];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kReads; ++k) sum += copy[place(k, addresses, places)];
  if (i < n) out[i] = sum;
}

// A polynomial with many coefficients, each the same for all lanes. In the unrolled loop,
// ptxas makes each constant an operand of its instruction.
constexpr int kTerms = 64;
__global__ void terms_constant(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i] * 0.5f, sum = 0;
#pragma unroll
  for (int k = 0; k < kTerms; ++k) sum = sum * x + constant_table[k];
  out[i] = sum;
}
__global__ void terms_global(const float* in, const float* table, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i] * 0.5f, sum = 0;
#pragma unroll
  for (int k = 0; k < kTerms; ++k) sum = sum * x + __ldg(table + k);
  out[i] = sum;
}
__global__ void terms_shared(const float* in, const float* table, float* out, int n) {
  __shared__ float copy[kTerms];
  if (threadIdx.x < kTerms) copy[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i] * 0.5f, sum = 0;
#pragma unroll
  for (int k = 0; k < kTerms; ++k) sum = sum * x + copy[k];
  out[i] = sum;
}

// The same gather is compiled as ld.global and as ld.global.nc.
__global__ void gather_plain(const float* table, const unsigned* index, float* out, int n,
                             unsigned mask) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    unsigned at = index[i];
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[(at + k * 40503u) & mask];
    out[i] = sum;
  }
}
__global__ void gather_read_only(const float* __restrict__ table,
                                 const unsigned* __restrict__ index, float* __restrict__ out, int n,
                                 unsigned mask) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    unsigned at = index[i];
    float sum = 0;
    for (int k = 0; k < 8; ++k) sum += table[(at + k * 40503u) & mask];
    out[i] = sum;
  }
}

// An image of side x side floats is read along rows, down columns, or along the diagonals.
enum Walk { rows, columns, diagonals };
__device__ inline int2 source(int x, int y, int side, Walk walk) {
  if (walk == rows) return {x, y};
  if (walk == columns) return {y, x};
  return {(x + y) % side, (x - y + side) % side};
}
__global__ void image_global(const float* in, float* out, int side, Walk walk) {
  int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 8 + threadIdx.x / 32;
  int2 from = source(x, y, side, walk);
  out[y * side + x] = __ldg(in + from.y * side + from.x);
}
__global__ void image_texture(cudaTextureObject_t in, float* out, int side, Walk walk) {
  int x = blockIdx.x * 32 + threadIdx.x % 32, y = blockIdx.y * 8 + threadIdx.x / 32;
  int2 from = source(x, y, side, walk);
  out[y * side + x] = tex2D<float>(in, from.x + 0.5f, from.y + 0.5f);
}

// A sliding window over a signal; its weights are loaded, or computed when needed.
__device__ inline float hann(int i, float step) { return 0.5f - 0.5f * __cosf(i * step); }
__global__ void fill_window(float* window, int n, float step) {
  int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
    window[i] = hann(i, step);
}
__global__ void window_loaded(const float4* in, const float4* window, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  float4 v = in[i], w = window[i];
  out[i] = {v.x * w.x, v.y * w.y, v.z * w.z, v.w * w.w};
}
__global__ void window_computed(const float4* in, float4* out, int n, float step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i >= n) return;
  float4 v = in[i];
  out[i] = {v.x * hann(4 * i, step), v.y * hann(4 * i + 1, step), v.z * hann(4 * i + 2, step),
            v.w * hann(4 * i + 3, step)};
}

}  // namespace kinds
