// Shared code of the kernels of launches.csv. All have one signature, so that a table can launch
// them on a GPU and on the simulator:
//
//   a, b   read only; word i is a hash of i below 2^30: a float in [0, 2), or any index
//   c      written
//   n      elements of the task, p and q what the kernel says
//
// Their names differ from the labs' kernels, because these are not solutions. The round in which a
// kernel was first measured is in data/modelled/h200-blind.csv.
#pragma once

#include <cstdint>

#define KERNEL(name)                                                                        \
  extern "C" __global__ void name(const float* __restrict__ a, const float* __restrict__ b, \
                                  float* __restrict__ c, unsigned n, unsigned p, unsigned q)

__device__ inline unsigned first() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned step() { return gridDim.x * blockDim.x; }

// The words of an array as other types: a 32-bit integer, bytes, a double, four floats.
__device__ inline unsigned word(const float* from, unsigned i) {
  return reinterpret_cast<const unsigned*>(from)[i];
}
__device__ inline const unsigned char* bytes(const float* from) {
  return reinterpret_cast<const unsigned char*>(from);
}
__device__ inline unsigned* words(float* to) { return reinterpret_cast<unsigned*>(to); }
__device__ inline double real(const float* from, unsigned i) {
  return reinterpret_cast<const double*>(from)[i];
}
__device__ inline double* reals(float* to) { return reinterpret_cast<double*>(to); }
__device__ inline const float4* quads(const float* from) {
  return reinterpret_cast<const float4*>(from);
}
__device__ inline float sum4(float4 v) { return v.x + v.y + v.z + v.w; }

// Adds up the values of a warp; all lanes get the sum.
__device__ inline float warp_sum(float v) {
  for (unsigned d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
  return v;
}
__device__ inline float warp_max(float v) {
  for (unsigned d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
  return v;
}
// Adds up the values of a warp; lane 0 gets the sum.
__device__ inline float warp_sum_for_lane_0(float v) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
  return v;
}
// Adds up the values of a block of whole warps; thread 0 gets the sum.
__device__ inline float block_sum_for_thread_0(float v) {
  __shared__ float part[32];
  v = warp_sum_for_lane_0(v);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x >= 32) return 0;
  return warp_sum_for_lane_0(threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0);
}

__device__ inline unsigned next_random(unsigned& state) {
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return state;
}
