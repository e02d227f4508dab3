// Shuffle: lanes of a warp pass registers to each other. Sums, atomics and statistics with that.
// Read handouts/shuffle.md before, handouts/shuffle-notes.md afterwards.
//
// Submit this file. It holds kernels only: the grader allocates, launches and checks. Kernels keep
// their names and parameters; add any helpers you like. Tasks are marked TASK; the rest is given.
//
// In every launch
// - blocks and grid are as the task says, one block at least, also where there is nothing to do,
// - pointers are aligned to 256 bytes, as cudaMalloc's are; buffers never overlap,
// - sums are of floats that are whole numbers, so small that every order gives the same sum,
// - totals that atomics add to are 0 before the launch,
// - sectors, wavefronts, barriers and atomics earn points only if the result is right, too.
#include "lab32.cuh"

constexpr unsigned kAll = 0xffffffff;  // the mask of a whole warp
constexpr int kBlock = 256;

// ---- Given --------------------------------------------------------------------------------------

// For A1: one warp. Lane l begins with in[l].
__global__ void five_steps(const int* in, int* first, int* down, int* butterfly) {
  int lane = threadIdx.x;
  int v = in[lane];
  first[lane] = __shfl_down_sync(kAll, v, 16);
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  down[lane] = v;
  v = in[lane];
  for (int step = 16; step > 0; step /= 2) v += __shfl_xor_sync(kAll, v, step);
  butterfly[lane] = v;
}

// For A2, and to compare with: an atomic per element. T is int or float; grid ceil(n / 256).
template <class T>
__global__ void reduce_atomic(const T* in, T* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

// For A3: adds 1.0f to `from`, n times. One thread.
__global__ void add_ones(float from, float* out, int n) {
  for (int i = 0; i < n; ++i) from += 1.0f;
  *out = from;
}

// ---- A. Predict first ---------------------------------------------------------------------------
//
// Predict; the grader launches the given kernels and compares. -1 means "not answered yet".

// TASK A1: five_steps, where lane l begins with l. What do lanes 5 and 20 have in `first`? How many
// lanes have the sum of all 32 in `down`, how many in `butterfly`?
LAB32_ANSWER(down_lane_5, -1);
LAB32_ANSWER(down_lane_20, -1);
LAB32_ANSWER(down_lanes_with_sum, -1);
LAB32_ANSWER(butterfly_lanes_with_sum, -1);

// TASK A2: reduce_atomic, n a multiple of 32. How many lanes of a warp add to `total` by
// themselves, with T = float and with T = int?
LAB32_ANSWER(float_adds, -1);
LAB32_ANSWER(int_adds, -1);

// TASK A3: which is the smallest float greater than 2^24 = 16777216? 2^25 ones are to be added.
// Which sum comes out one by one (sum = sum + 1.0f), which in pairs (2^24 sums of two, then 2^23 of
// two of those, and so on)?
LAB32_ANSWER(next_float, -1);
LAB32_ANSWER(one_by_one, -1);
LAB32_ANSWER(in_pairs, -1);

// ---- B. Sums ------------------------------------------------------------------------------------
//
// A block takes 2 * blockDim.x elements of in[0] ... in[n - 1], in order, and leaves their sum in
// out[blockIdx.x]. The grid is ceil(n / (2 * blockDim.x)).

// TASK B1: by a tree in shared memory, as in the lab reduction; blocks of 256. The counter that
// must improve: wavefronts, 45 per block.
__global__ void reduce_shared(const float* in, float* out, int n) {
  if (threadIdx.x == 0) out[blockIdx.x] = n > 0 ? in[0] : 0;
}

// TASK B2: the sum of v over the 32 lanes of a warp, in lane 0; what the others get does not
// matter. All lanes of the warp call it. T is int or float. No shared memory.
template <class T>
__device__ T warp_reduce_sum(T v) {
  return v;
}

// TASK B3: by B2, in two stages: each warp, then the warps' sums. Blocks of any multiple of 32 up
// to 1024 threads. The counters that must improve: wavefronts, 9 in a block of 256, and barriers,
// one per block.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  if (threadIdx.x == 0) out[blockIdx.x] = n > 0 ? in[0] : 0;
}

// ---- C. Atomics ---------------------------------------------------------------------------------
//
// One element per thread, blocks of 256, grid ceil(n / 256). Each kernel gives the right result
// already. The counter that must improve: lanes that add to global memory.

// TASK C1: the sum of all elements is added to *total, with one add per warp.
__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

// TASK C2: the same in two levels, with one add per block.
__global__ void sum_by_blocks(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(total, in[i]);
}

// TASK C3: value[i] is added to totals[key[i]], with one add for each different key that a warp
// has. Keys are not negative. __match_any_sync(mask, key) gives each lane the lanes that have its
// key.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&totals[key[i]], value[i]);
}

// ---- D. Rows ------------------------------------------------------------------------------------
//
// Row r is in[r * columns] ... in[r * columns + columns - 1], 1 to 4096 elements. Some rows are all
// equal, alternate in sign, are denormal, or have a large mean and a small variance. Results must
// be as near to double precision's as floats can be (the notes say how near that is).

// TASK D1: the smallest and the largest element of each row; -INFINITY may be among them, or all of
// them. One warp per row, blocks of 128, grid ceil(rows / 4). No shared memory, no barriers.
__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row < rows && lane == 0) low[row] = high[row] = 0;
}

// TASK D2: mean and variance (of the population: the mean of the squared distances from the mean)
// of each row, in one pass over memory. Launched like D1.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row < rows && lane == 0) mean[row] = variance[row] = 0;
}

// TASK D3: e^x, divided by the sum of e^x over the row. x may be -INFINITY, but not in all of a
// row. Blocks of 256, one block per row. The counter that must improve: sectors, each once in and
// once out.
__global__ void softmax(const float* in, float* out, int columns) {
  for (int c = threadIdx.x; c < columns; c += kBlock) out[blockIdx.x * columns + c] = 0;
}

// TASK D4: (x - mean) / sqrt(variance + epsilon) * weight[column] + bias[column], with the row's
// mean and variance. Blocks of 256, one block per row. That counter must improve.
__global__ void layer_norm(const float* in, const float* weight, const float* bias, float* out,
                           int columns, float epsilon) {
  for (int c = threadIdx.x; c < columns; c += kBlock) out[blockIdx.x * columns + c] = 0;
}

// ---- Given: what the grader launches ------------------------------------------------------------

// For B2: each warp sums its 32 elements. Blocks of 256, grid ceil(n / 256).
template <class T>
__global__ void warp_sums(const T* in, T* out, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  T sum = warp_reduce_sum(i < n ? in[i] : T(0));
  if (i < n && i % kWarpSize == 0) out[i / kWarpSize] = sum;
}

template __global__ void warp_sums(const int*, int*, int);
template __global__ void warp_sums(const float*, float*, int);
template __global__ void reduce_atomic(const int*, int*, int);
template __global__ void reduce_atomic(const float*, float*, int);
