// What the sets of kernels share: their signature, which is that of kernels.cu, and their arrays as
// other types.
#pragma once

#include <cstdint>

#define KERNEL(name)                                                                        \
  extern "C" __global__ void name(const float* __restrict__ a, const float* __restrict__ b, \
                                  float* __restrict__ c, unsigned n, unsigned p, unsigned q)

__device__ inline unsigned first() { return blockIdx.x * blockDim.x + threadIdx.x; }
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
