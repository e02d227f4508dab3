// Reduction: one sum, eight kernels, one idea each.
// Read handouts/reduction.md before, handouts/reduction-notes.md afterwards.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// v1 to v6 add ints: block b leaves the sum of its own part of `in` in out[b], and `in` is as long
// as all blocks' parts together. v1 to v3 take one element per thread, v4 to v6 two. Blocks have
// 64, 128, 256, 512 or 1024 threads. v7 and v8 add n elements of type T, int or float, n >= 0, and
// leave one number in out[0]; LAB32_LAUNCH gives their blocks and grid, one block at least. out[0]
// is 0 when v7 starts, and arbitrary when v8 does. No sum of ints leaves the range of an int, in
// whatever order they are added. Pointers are aligned to 256 bytes, as cudaMalloc's are.
//
// Counters are a block's: v1 to v5 are shown for blocks of 128 as in the SYSU Lecture, v6 for 1024,
// and all sizes count. v7 is counted with 2^22 ints, v8 with 2^24, and both with floats, too.
#include "lab32.cuh"

constexpr unsigned kMostThreads = 1024;

// ---- Given --------------------------------------------------------------------------------------

// v1: a tree in shared memory, neighbours first. Thread t adds where t is a multiple of twice the
// distance: in each step the active threads are scattered over all warps.
__global__ void reduce_v1(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// What v4 to v6 begin with: v1 for two elements per thread. The block brings all of them into
// shared memory; each thread handles two words.
__device__ void add_neighbours(const int* in, int* out) {
  __shared__ int sums[2 * kMostThreads];
  unsigned count = 2 * blockDim.x, first = blockIdx.x * count;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sums[i] = in[first + i];
  __syncthreads();
  for (unsigned distance = 1; distance < count; distance *= 2) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x)
      if (i % (2 * distance) == 0) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

// What v7 and v8 begin with: each thread adds one piece of `in`, and v1's tree the threads' sums.
// The block's sum is in thread 0.
template <class T>
__device__ T add_pieces(const T* in, int n) {
  __shared__ T sums[kMostThreads];
  int threads = gridDim.x * blockDim.x, piece = ceil_div(n, threads);
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * piece;
  T sum = 0;
  for (int i = first; i < first + piece && i < n; ++i) sum += in[i];
  unsigned t = threadIdx.x;
  sums[t] = sum;
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  return sums[0];
}

// The Reduce Tutorial's kernels have three faults, one in each of these; A2 is about them. A block
// has kThreads threads; the grid is ceil(n / kThreads) blocks.

// The last block's threads beyond n leave their words as they are.
template <int kThreads>
__global__ void faulty_tail(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  if (i < n) sums[t] = in[i];
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// Two elements per thread, so half the words suffice; yet each thread has a word.
template <int kThreads>
__global__ void faulty_half(const int* in, int* out, int n) {
  __shared__ int sums[kThreads / 2];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  int sum = i < n ? in[i] : 0;
  if (i + kThreads < n) sum += in[i + kThreads];
  sums[t] = sum;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// Every thread adds if its partner exists.
template <int kThreads>
__global__ void faulty_overlap(const int* in, int* out, int n) {
  __shared__ int sums[kThreads];
  int t = threadIdx.x, i = blockIdx.x * kThreads + t;
  sums[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = kThreads / 2; distance > 0; distance /= 2) {
    if (t + distance < kThreads) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, sums[0]);
}

// ---- A. Count first -----------------------------------------------------------------------------
//
// Predict; -1 means "not answered yet". Once all of a task's answers are right, the grader shows
// what it has counted, and what its checks say.

// TASK A1: a block of 128 threads at distance 16, one of the seven steps of reduce_v1. In how many
// warps does at least one thread add, and how many threads are that in each of them? In v2 the same
// additions are made by the first threads of the block: in how many warps?
LAB32_ANSWER(v1_warps, -1);
LAB32_ANSWER(v1_lanes, -1);
LAB32_ANSWER(v2_warps, -1);
// v2 at distance 4: the threads t = 0 to 15 read sums[8 * t + 4]. How many wavefronts does that
// request take? And in v3 at distance 16, where the threads 0 to 15 read sums[t + 16]?
LAB32_ANSWER(v2_wavefronts, -1);
LAB32_ANSWER(v3_wavefronts, -1);
// How many lanes of the warps of a block of 33 threads have no thread?
LAB32_ANSWER(idle_33, -1);

// TASK A2: the Reduce Tutorial's faults.
// faulty_tail<128>, n = 1000: how many words of the last block's `sums` are never written before the
// tree reads them?
LAB32_ANSWER(tail_words, -1);
// faulty_half<128>: how many threads of a block write outside `sums`?
LAB32_ANSWER(half_outside, -1);
// faulty_half<128>, n = 384, so 3 blocks: how many elements of `in` are read by two of the blocks?
LAB32_ANSWER(half_twice, -1);
// faulty_overlap<8> at distance 2: how many words are written by one thread and read by another one
// in the same step?
LAB32_ANSWER(overlap_words, -1);

// ---- B. One idea per version --------------------------------------------------------------------
//
// Each kernel gives the right result already. Keep it right, and improve one counter. Each version
// keeps what the one before has gained, and leaves alone what later ones are about: a step is
// judged by what it changes, and by what it has not changed yet.

// TASK B2, v2: no divergence. The idea: the same additions in the same places, interleaved as in
// v1, made by the first threads of the block. The counter that must improve: accesses to shared
// memory, each with more active lanes. (Bank conflicts appear. v3 removes them.)
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// TASK B3, v3: no bank conflicts. The idea: sequential addressing, the far half first. The counter
// that must improve: wavefronts, to one per access.
__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    if (t % (2 * distance) == 0) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// TASK B4, v4: no idle threads at the first step. The idea: half of v3's threads never add. With
// two elements per thread, every thread can add once while it loads. The counters that must
// improve, against v3: accesses and idle lanes per element, both to a half.
__global__ void reduce_v4(const int* in, int* out) { add_neighbours(in, out); }

// TASK B5, v5: no barriers in the last warp. The idea: 64 sums are left to one warp, by
// __syncwarp() (load, sync, store, sync) or by __shfl_down_sync(). `volatile` alone is not enough:
// why? The counter that must improve: barriers per block.
__global__ void reduce_v5(const int* in, int* out) { add_neighbours(in, out); }

// TASK B6, v6: no loop. The idea: with the size of the block known to the compiler, the tree
// unrolls completely. The counter that must improve: instructions per element.
template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  add_neighbours(in, out);
}

// ---- C. As many elements per thread as you like -------------------------------------------------
//
// The grid is ceil(n / (block * items_per_thread)) blocks, or blocks_per_sm blocks for each
// multiprocessor if that is fewer. Sums of floats may be off by the roundings of a sum that many
// threads share: handouts/reduction-notes.md has the bound. All are of one sign.

// TASK C1, v7: many elements per thread, and a tree for the rest. In add_pieces a thread's elements
// follow each other: each thread's next load is in the sector it has loaded from before. Why is
// that not good? The counters that must improve: sectors, then instructions per element. .block is
// 64, 128, 256, 512 or 1024; the results of all of them are checked.
LAB32_LAUNCH(reduce_v7, .block = 128, .items_per_thread = 16);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  T sum = add_pieces(in, n);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

// TASK C2, v8: as fast as you can; reduction-notes.md has CUB's time beside ours. Ideas:
// 16 bytes per load, several loads in flight, shuffles, as many blocks as the GPU holds at once.
// out[0] is not set to 0 before: either one block is the last to finish and knows it, or one block
// does all the work, as here. The counters that must improve: requests, to a quarter; threads;
// instructions.
LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = 1 << 20);

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = add_pieces(in, n);
  if (threadIdx.x == 0) *out = sum;
}

// ---- Given: what the grader launches ------------------------------------------------------------

template __global__ void faulty_tail<128>(const int*, int*, int);
template __global__ void faulty_half<128>(const int*, int*, int);
template __global__ void faulty_overlap<8>(const int*, int*, int);
template __global__ void reduce_v6<64>(const int*, int*);
template __global__ void reduce_v6<128>(const int*, int*);
template __global__ void reduce_v6<256>(const int*, int*);
template __global__ void reduce_v6<512>(const int*, int*);
template __global__ void reduce_v6<1024>(const int*, int*);
template __global__ void reduce_v7<int, 64>(const int*, int*, int);
template __global__ void reduce_v7<int, 128>(const int*, int*, int);
template __global__ void reduce_v7<int, 256>(const int*, int*, int);
template __global__ void reduce_v7<int, 512>(const int*, int*, int);
template __global__ void reduce_v7<int, 1024>(const int*, int*, int);
template __global__ void reduce_v7<float, 64>(const float*, float*, int);
template __global__ void reduce_v7<float, 128>(const float*, float*, int);
template __global__ void reduce_v7<float, 256>(const float*, float*, int);
template __global__ void reduce_v7<float, 512>(const float*, float*, int);
template __global__ void reduce_v7<float, 1024>(const float*, float*, int);
template __global__ void reduce_v8<int>(const int*, int*, int);
template __global__ void reduce_v8<float>(const float*, float*, int);
