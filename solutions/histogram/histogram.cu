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
LAB32_ANSWER(same_key_sectors, 32);
LAB32_ANSWER(neighbours_sectors, 4);

// ---- B. Fewer atomics, one idea a version -------------------------------------------------------

// B1: one histogram a block. 4096 atomics in shared memory replace as many in device memory; 256
// adds remain, of which eight neighbours share a sector.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&own[key[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// B2: __match_any_sync names the lanes that have the same key; the first of them adds the sum of
// their weights. Lanes behind the end take no part, so the mask is that of the others.
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  int lane = threadIdx.x % kWarpSize;
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i >= n) continue;
    int mine = key[i];
    unsigned peers = __match_any_sync(active, mine);
    unsigned sum = __reduce_add_sync(peers, weight[i]);
    if (lane == __ffs(peers) - 1) atomicAdd(&own[mine], sum);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// B3: leaders of one warp have different keys, and no other warp uses this histogram: a plain add
// is enough. __syncwarp() orders it before the next round, in which another lane may lead the key.
__global__ void histogram_warp(const int* key, const unsigned* weight, unsigned* bins, int n) {
  __shared__ unsigned own[kWarps][kBins];
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int bin = lane; bin < kBins; bin += kWarpSize) own[warp][bin] = 0;
  __syncwarp();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    int mine = i < n ? key[i] : -1;
    unsigned peers = __match_any_sync(0xffffffff, mine);
    unsigned sum = __reduce_add_sync(peers, i < n ? weight[i] : 0);
    if (i < n && lane == __ffs(peers) - 1) own[warp][mine] += sum;
    __syncwarp();
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += own[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}
