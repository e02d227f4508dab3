// LABNAME: the reference solution. labs/LABNAME/LABNAME.cu states each task in full.
#include "lab32.cuh"

constexpr int kBlock = 256;
constexpr int kItems = 16;  // elements of a thread

// A1: 128 bytes in sectors of 32.
LAB32_ANSWER(neighbours_sectors, 4);

// B1: in each step, neighbouring lanes take neighbouring elements.
__global__ void scale(const float* in, float* out, float factor, int n) {
  for (int k = 0; k < kItems; ++k) {
    int i = (blockIdx.x * kItems + k) * kBlock + threadIdx.x;
    if (i < n) out[i] = factor * in[i];
  }
}
