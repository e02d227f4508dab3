// LABNAME: what students read first. One sentence says what the lab is about.
// Read the handout before.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// In every launch
// - a block has 256 threads and takes 4096 elements: the grid is ceil(n / 4096), one block at least,
// - sectors earn points only if the result is right, too.
#include "lab32.cuh"

constexpr int kBlock = 256;
constexpr int kItems = 16;  // elements of a thread

// ---- A. Predict first ---------------------------------------------------------------------------

// TASK A1: a warp reads 32 neighbouring floats. How many sectors? -1 means "not answered yet".
LAB32_ANSWER(neighbours_sectors, -1);

// ---- B. One idea a task -------------------------------------------------------------------------

// TASK B1: out[i] = factor * in[i]. This kernel is right and slow: a lane takes 16 neighbouring
// elements. The counter that must improve: sectors.
__global__ void scale(const float* in, float* out, float factor, int n) {
  int first = (blockIdx.x * kBlock + threadIdx.x) * kItems;
  for (int k = 0; k < kItems; ++k)
    if (first + k < n) out[first + k] = factor * in[first + k];
}
