// The versions of the Reduce Tutorial with their errors corrected, so that all of them compute the
// right sum. A block of kThreads threads sums its part of `in`, and thread 0 adds that to *out.
#pragma once

#include "lab32.cuh"

namespace tutorial {

template <int kThreads>
__device__ void neighbours_first(int* sums) {
  int t = threadIdx.x;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
}

template <int kThreads>
__device__ void far_half_first(int* sums) {
  int t = threadIdx.x;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
}

// One element per thread. The tail is filled with zeros.
template <int kThreads>
__global__ void naive(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  sums[t] = i < n ? in[i] : 0;
  neighbours_first<kThreads>(sums);
  if (t == 0) atomicAdd(out, sums[0]);
}

// Two elements per thread: half the blocks, with one word of shared memory per thread.
template <int kThreads>
__global__ void two_loads(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = 2 * blockIdx.x * kThreads + t;
  sums[t] = (i < n ? in[i] : 0) + (i + kThreads < n ? in[i + kThreads] : 0);
  far_half_first<kThreads>(sums);
  if (t == 0) atomicAdd(out, sums[0]);
}

// Without divergence, and without two threads that access one word.
template <int kThreads>
__global__ void sequential(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  sums[t] = i < n ? in[i] : 0;
  far_half_first<kThreads>(sums);
  if (t == 0) atomicAdd(out, sums[0]);
}

__device__ inline int4 four_of(const int* in, int i, int n) {
  return 4 * i < n ? reinterpret_cast<const int4*>(in)[i] : make_int4(0, 0, 0, 0);
}

// An int4 per thread, staged in shared memory. n is a multiple of 4.
template <int kThreads>
__global__ void vectorised(const int* in, int* out, int n) {
  __shared__ int4 staged[kThreads];
  int* sums = reinterpret_cast<int*>(staged);
  int t = threadIdx.x;
  staged[t] = four_of(in, blockIdx.x * kThreads + t, n);
  __syncthreads();
  int mine = sums[4 * t] + sums[4 * t + 1] + sums[4 * t + 2] + sums[4 * t + 3];
  __syncthreads();
  sums[t] = mine;
  far_half_first<kThreads>(sums);
  if (t == 0) atomicAdd(out, sums[0]);
}

// An int4 per thread, added in registers.
template <int kThreads>
__global__ void coarsened(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  int4 four = four_of(in, blockIdx.x * kThreads + t, n);
  sums[t] = four.x + four.y + four.z + four.w;
  far_half_first<kThreads>(sums);
  if (t == 0) atomicAdd(out, sums[0]);
}

// Like the version above, with the last warp's steps by shuffles.
template <int kThreads>
__global__ void shuffled(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x;
  int4 four = four_of(in, blockIdx.x * kThreads + t, n);
  int sum = four.x + four.y + four.z + four.w;
  if (kThreads > kWarpSize) {
    sums[t] = sum;
    __syncthreads();
    for (int distance = kThreads / 2; distance > kWarpSize; distance /= 2) {
      if (t < distance) sums[t] += sums[t + distance];
      __syncthreads();
    }
    if (t < kWarpSize) sum = sums[t] + sums[t + kWarpSize];
  }
  if (t < kWarpSize) {
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2)
      sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (t == 0) atomicAdd(out, sum);
}

}  // namespace tutorial
