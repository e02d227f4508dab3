// Reduction: one sum, eight kernels, one idea each.
// Read handouts/reduction.md before, handouts/reduction-notes.md afterwards.
//
// The reference solution: reduce_v1 is that of labs/reduction/reduction.cu, which states each task
// in full.
//
// v1 to v6 add ints: block b leaves the sum of its own part of `in` in out[b], and `in` is as long
// as all blocks' parts together. v1 to v3 take one element per thread, v4 to v6 two. Blocks have
// 64, 128, 256, 512 or 1024 threads. v7 and v8 add n elements of type T, int or float, n >= 0, and
// leave one number in out[0]; LAB32_LAUNCH gives their blocks and grid, one block at least. out[0]
// is 0 when v7 starts, and arbitrary when v8 does. No sum of ints leaves the range of an int, in
// whatever order they are added. Pointers are aligned to 256 bytes, as cudaMalloc's are.
#include "lab32.cuh"

constexpr unsigned kMostThreads = 1024;
constexpr unsigned kWholeWarp = 0xffffffffu;

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

// A1: at distance 16 the threads 0, 16, 32, ... 112 are multiples of 32: 0, 32, 64, 96, one in each
// warp. Compacted they are the threads 0 to 3. Their words are 2 * distance apart.
LAB32_ANSWER(v1_warps, 4);
LAB32_ANSWER(v1_lanes, 1);
LAB32_ANSWER(v2_warps, 1);
LAB32_ANSWER(v2_wavefronts, 4);
LAB32_ANSWER(v3_wavefronts, 1);
LAB32_ANSWER(idle_33, 31);

// A2: 1000 = 7 * 128 + 104. One word per thread into half as many. Block b takes the elements of
// block b + 1, too, so all but the first block's are counted twice. Threads 0 to 5 write; of these
// words, 2 to 5 are read by others in the same step.
LAB32_ANSWER(tail_words, 24);
LAB32_ANSWER(half_outside, 64);
LAB32_ANSWER(half_twice, 256);
LAB32_ANSWER(overlap_words, 4);

// ---- B. One idea per version --------------------------------------------------------------------

// v2: the same additions in the same places, made by the first threads: whole warps become idle,
// and the lanes of the others work together. Their words are 2 * distance apart: bank conflicts.
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = 2 * distance * t;
    if (i < blockDim.x) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// Halves the sums until `rest` are left. Neighbouring lanes add neighbouring words. A thread reads
// what another wrote a step before, so the block waits in between. Within a step no thread reads
// what another writes, since only the lower half is written.
__device__ void halve(int* sums, unsigned rest) {
  unsigned t = threadIdx.x;
  for (unsigned distance = blockDim.x / 2; distance >= rest; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
}

// v3: the far half first, so that the words in use lie side by side: no conflicts.
__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  halve(sums, 1);
  if (t == 0) out[blockIdx.x] = sums[0];
}

// v4: half of v3's threads never add anything. Here each adds two elements while it loads.
__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 1);
  if (t == 0) out[blockIdx.x] = sums[0];
}

// The sum of a warp's 32 values, in lane 0. A shuffle waits for the lanes of its mask and passes
// registers: no shared memory, no barrier, no race.
template <class T>
__device__ T warp_sum(T sum) {
  for (unsigned distance = kWarpSize / 2; distance > 0; distance /= 2)
    sum += __shfl_down_sync(kWholeWarp, sum, distance);
  return sum;
}

// v5: one warp adds 64 sums, and its lanes need no barrier of the whole block.
__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 2 * kWarpSize);
  if (t >= kWarpSize) return;
  int sum = warp_sum(sums[t] + sums[t + kWarpSize]);
  if (t == 0) out[blockIdx.x] = sum;
}

// The block's sum, in thread 0: v5's tree with the size of the block known to the compiler. Only
// the instructions that add are left of the loop.
template <unsigned kThreads, class T>
__device__ T block_sum(T sum) {
  __shared__ T sums[kThreads];
  unsigned t = threadIdx.x;
  sums[t] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned distance = kThreads / 2; distance > kWarpSize; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < kWarpSize) sum = warp_sum(sums[t] + sums[t + kWarpSize]);
  return sum;
}

// v6: the loop is gone.
template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  unsigned i = 2 * blockIdx.x * kThreads + threadIdx.x;
  int sum = block_sum<kThreads>(in[i] + in[i + kThreads]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// v7: a grid that fills the GPU once. Each thread adds many elements, which costs neither shared
// memory nor barriers; the tree is paid once per block. The stride is the whole grid, so that the
// lanes of a warp read neighbours in each round.
LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 16, .blocks_per_sm = 8);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  // An int, which does not wrap: only then nvcc unrolls the loop, and four loads are in flight.
  int step = gridDim.x * kThreads;
  T sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

// v8: v7 with 16 bytes per load, four loads in flight, two levels of shuffles, and one launch that
// needs no zeros in `out` and no second pass. Measured time chose each line among alternatives, not
// counters (data/measured/reduction/README.md).
constexpr int kBestThreads = 512, kBestBlocks = 4096, kTile = 4 * kBestThreads;
LAB32_LAUNCH(reduce_v8, .block = kBestThreads, .items_per_thread = 8, .blocks_per_sm = 4);

template <class T>
struct alignas(16) Four {
  T x, y, z, w;
  __device__ T sum() const { return (x + y) + (z + w); }
};

// A warp's sum. For ints one instruction does it.
__device__ int fast_warp_sum(int sum) { return __reduce_add_sync(kWholeWarp, sum); }
__device__ float fast_warp_sum(float sum) { return warp_sum(sum); }

// The block's sum, in thread 0: each warp's, then those of all warps by the first. One barrier.
template <class T>
__device__ T fast_block_sum(T sum) {
  __shared__ T sum_of_warp[kWarpSize];
  unsigned lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  sum = fast_warp_sum(sum);
  if (lane == 0) sum_of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) sum = fast_warp_sum(lane < blockDim.x / kWarpSize ? sum_of_warp[lane] : T(0));
  return sum;
}

// A block's sum and the mark that it is there, in one word of 8 bytes: a thread that sees the mark
// sees the sum, and no fence is needed. 0 between launches.
__device__ unsigned long long sum_of_block[kBestBlocks];

__device__ unsigned long long marked(int sum) { return 1ull << 32 | unsigned(sum); }
__device__ unsigned long long marked(float sum) { return 1ull << 32 | __float_as_uint(sum); }
__device__ void unmark(unsigned long long word, int* sum) { *sum = int(word); }
__device__ void unmark(unsigned long long word, float* sum) { *sum = __uint_as_float(word); }

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, t = threadIdx.x;
  T sum = blockIdx.x == 0 && t < n % 4 ? in[4 * count + t] : 0;
  // A block takes a tile of neighbours at a time: DRAM likes that better than four strides of the
  // whole grid.
  for (int i = blockIdx.x * kTile + t; i < count; i += gridDim.x * kTile) {
    Four<T> got[4];
    if (i + 3 * kBestThreads < count) {
#pragma unroll
      for (int k = 0; k < 4; ++k) got[k] = fours[i + k * kBestThreads];
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        int there = i + k * kBestThreads;
        got[k] = there < count ? fours[there] : Four<T>{};
      }
    }
    sum += (got[0].sum() + got[1].sum()) + (got[2].sum() + got[3].sum());
  }
  sum = fast_block_sum(sum);

  // The last block waits for the others' sums; they wait for no block, so they finish. Always
  // the same block adds in the same order: float sums come out the same every time.
  volatile unsigned long long* all = sum_of_block;
  if (blockIdx.x != gridDim.x - 1) {
    if (threadIdx.x == 0) all[blockIdx.x] = marked(sum);
    return;
  }
  if (threadIdx.x != 0) sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x - 1; b += kBestThreads) {
    unsigned long long word;
    while ((word = all[b]) == 0) {
    }
    all[b] = 0;
    T other;
    unmark(word, &other);
    sum += other;
  }
  __syncthreads();  // the first warp has read sum_of_warp
  sum = fast_block_sum(sum);
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
