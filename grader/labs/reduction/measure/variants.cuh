// Variants of the reduction lab's kernels that its handout mentions.
#pragma once

#include "lab32.cuh"

namespace variant {

constexpr unsigned kMost = 1024;  // threads per block

// v1 with the remainder by a power of two computed with a mask.
__global__ void v1_mask(const int* in, int* out) {
  __shared__ int sums[kMost];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if ((t & (2 * distance - 1)) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// v4 to v6 without any tree: the same blocks with the same loads. The comparison, which is never
// true for the timed inputs, keeps the compiler from removing the loads.
__global__ void no_tree(const int* in, int* out) {
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  int sum = in[i] + in[i + blockDim.x];
  if (sum == 1 << 30 || t == 0) out[blockIdx.x] = sum;
}

// Blocks that start and end, without the loads.
__global__ void empty(const int*, int* out) {
  if (gridDim.y == 2) out[0] = 0;  // never true
}

// The last six steps of a tree by one warp, each lane with its own word. The variants differ in how
// they keep the lanes in step.
enum class Step { plain, is_volatile, half_synced, synced };

template <Step kStep>
__device__ void last_warp(int* sums, unsigned t) {
  if constexpr (kStep == Step::is_volatile) {
    volatile int* own = sums;
    own[t] += own[t + 32];
    own[t] += own[t + 16];
    own[t] += own[t + 8];
    own[t] += own[t + 4];
    own[t] += own[t + 2];
    own[t] += own[t + 1];
  } else {
#pragma unroll
    for (unsigned distance = 32; distance > 0; distance /= 2) {
      int other = sums[t + distance];
      if (kStep == Step::synced) __syncwarp();
      sums[t] += other;
      if (kStep != Step::plain) __syncwarp();
    }
  }
}

template <Step kStep>
__global__ void v5(const int* in, int* out) {
  __shared__ int sums[kMost];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > kWarpSize; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < kWarpSize) last_warp<kStep>(sums, t);
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Ends the variants of v7 below.
__device__ inline void add_block(int sum, int* out) {
  __shared__ int sums[kMost];
  unsigned t = threadIdx.x;
  sums[t] = sum;
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// One contiguous piece of the input per thread.
__global__ void pieces(const int* in, int* out, int n) {
  int piece = ceil_div(n, gridDim.x * blockDim.x);
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece, sum = 0;
  for (int i = first; i < min(first + piece, n); ++i) sum += in[i];
  add_block(sum, out);
}

// v7 with kAtOnce loads in flight per thread, as far as the compiler complies.
template <int kAtOnce>
__global__ void strided(const int* in, int* out, int n) {
  int step = gridDim.x * blockDim.x, sum = 0;
#pragma unroll kAtOnce
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) sum += in[i];
  add_block(sum, out);
}

// 16 bytes per load. n is a multiple of 4.
__global__ void strided_int4(const int* in, int* out, int n) {
  int step = gridDim.x * blockDim.x, sum = 0;
#pragma unroll 4
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += step) {
    int4 four = reinterpret_cast<const int4*>(in)[i];
    sum += four.x + four.y + four.z + four.w;
  }
  add_block(sum, out);
}

// Work that both sides of a branch need, like a ray tracer's choice between two triangles: long
// enough to be measured, and opaque to the compiler.
__device__ float work(float x) {
#pragma unroll 1
  for (int k = 0; k < 256; ++k) x = x * 0.999f + 0.25f;
  return x;
}

// kSide: 0: lanes differ; 1: only warps differ.
template <int kByWarp>
__device__ bool side(int i) {
  return (kByWarp ? i / kWarpSize : i) % 2;
}

template <int kByWarp>
__global__ void work_in_both(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  if (side<kByWarp>(i)) {
    out[i] = work(x) + 1;
  } else {
    out[i] = work(1 - x) - 1;
  }
}

template <int kByWarp>
__global__ void work_extracted(const float* in, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  float from = side<kByWarp>(i) ? x : 1 - x;
  float done = work(from);
  out[i] = side<kByWarp>(i) ? done + 1 : done - 1;
}

// The same arithmetic for each thread, in blocks of any size.
__global__ void busy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = work(in[i]);
}

}  // namespace variant
