// Histogram: how often does each key occur, and with which weight? Atomics in device memory, in
// shared memory, and fewer. Read handouts/histogram.md before.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// In every launch
// - a block has 256 threads and takes 4096 keys: the grid is ceil(n / 4096), one block at least,
// - keys are 0 to 255: random, sorted, or all the same; weights are 0 to 99; bins[0] ... bins[255]
//   are 0 before,
// - counters earn points only if the result is right, too.
#include "lab32.cuh"

constexpr int kBins = 256;
constexpr int kBlock = 256;
constexpr int kKeysPerBlock = 4096;
constexpr int kWarps = kBlock / kWarpSize;

// ---- Given --------------------------------------------------------------------------------------

// An atomic in device memory for each key.
__global__ void histogram_device(const int* key, unsigned* bins, int n) {
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&bins[key[i]], 1u);
  }
}

// ---- A. Predict first ---------------------------------------------------------------------------
//
// L2 adds to one word once at a time: for each sector, the counter counts the largest number of
// lanes that add to the same word. -1 means "not answered yet".

// TASK A1: one atomicAdd of a warp in histogram_device. How many sectors does it count if all 32
// lanes have the same key? How many if lane l has key l?
LAB32_ANSWER(same_key_sectors, -1);
LAB32_ANSWER(neighbours_sectors, -1);

// ---- B. Fewer atomics, one idea a version -------------------------------------------------------

// TASK B1: count in a histogram of the block in shared memory, then add it to `bins`. The counter
// that must improve: sectors of adds in device memory, 32 a block.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&bins[key[i]], 1u);
  }
}

// TASK B2: the sum of the weights of each key. As B1, but lanes of a warp with equal keys add once,
// together. The counter that must improve: wavefronts, if a warp has only a few different keys.
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&bins[key[i]], weight[i]);
  }
}

// TASK B3: as B2, but each warp adds to a histogram of its own. No other warp adds to it, so shared
// memory needs no atomics. The counters that must improve: atomics in shared memory, none; sectors
// of adds in device memory, 32 a block.
__global__ void histogram_warp(const int* key, const unsigned* weight, unsigned* bins, int n) {
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&bins[key[i]], weight[i]);
  }
}
