// Shuffle: lanes of a warp pass registers to each other. Sums, atomics and statistics with that.
// Read handouts/shuffle.md before, handouts/shuffle-notes.md afterwards.
//
// The reference solution: the given kernels are those of labs/shuffle/shuffle.cu, which states each
// task in full.
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

// A1: lane l reads lane l + 16, where there is one; else it gets its own value back.
LAB32_ANSWER(down_lane_5, 21);
LAB32_ANSWER(down_lane_20, 20);
LAB32_ANSWER(down_lanes_with_sum, 1);
LAB32_ANSWER(butterfly_lanes_with_sum, 32);

// A2: ptxas sums integers in the warp before one lane adds. With floats the order of addition would
// change the result, so it does not.
LAB32_ANSWER(float_adds, 32);
LAB32_ANSWER(int_adds, 1);

// A3: a float has 24 bits; from 2^24 on, neighbours are 2 apart, and a tie goes to the even one.
LAB32_ANSWER(next_float, 16777218);
LAB32_ANSWER(one_by_one, 16777216);
LAB32_ANSWER(in_pairs, 33554432);

// ---- B. Sums ------------------------------------------------------------------------------------

// B1: as many steps as the block has bits; each reads what the step before wrote, so each needs a
// barrier. Threads that are left are neighbours, and so are their words: no bank conflicts.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * kBlock + t;
  sums[t] = (i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0);
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

// B2: after the step of 16, lanes 0 to 15 hold a sum of two; after that of 8, lanes 0 to 7 one of
// four. The others go on as well, since the mask names them, but their results are not used.
template <class T>
__device__ T warp_reduce_sum(T v) {
  for (int step = kWarpSize / 2; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  return v;
}

// B3: one word per warp, one barrier, and at most 32 words are left: one more warp's sum. All of
// its lanes take part; those that have no warp's sum contribute a zero.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warp = t / kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_reduce_sum(lane < warps ? sums[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}

// ---- C. Atomics ---------------------------------------------------------------------------------

// C1: the warp adds first, one lane adds to memory.
__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(total, sum);
}

// C2: two levels. The block's sum is formed in shared memory without atomics: for floats there is
// only a compare-and-swap loop there.
__global__ void sum_by_blocks(const float* in, float* total, int n) {
  __shared__ float sums[kBlock / kWarpSize];
  int t = threadIdx.x;
  int i = blockIdx.x * kBlock + t;
  float sum = warp_reduce_sum(i < n ? in[i] : 0);
  if (t % kWarpSize == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t < kWarpSize) {
    sum = warp_reduce_sum(t < kBlock / kWarpSize ? sums[t] : 0);
    if (t == 0) atomicAdd(total, sum);
  }
}

// C3: lanes of the same key are a list, each knowing the next. In each round a lane adds what the
// next one holds and from then on looks at the next one's next: after r rounds it holds the sum of
// up to 2^r of them, and the first of the list, after five at most, of all. Every lane stays for
// every shuffle.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int lane = threadIdx.x % kWarpSize;
  int mine = i < n ? key[i] : -1;
  float sum = i < n ? value[i] : 0;
  unsigned peers = __match_any_sync(kAll, mine);
  int next = __ffs(peers & (0xfffffffeu << lane)) - 1;  // -1: none
  while (__any_sync(kAll, next >= 0)) {
    float more = __shfl_sync(kAll, sum, next);  // from lane next % 32; ignored if next is -1
    int after = __shfl_sync(kAll, next, next);
    if (next >= 0) {
      sum += more;
      next = after;
    }
  }
  if (mine >= 0 && lane == __ffs(peers) - 1) atomicAdd(&totals[mine], sum);
}

// ---- D. Rows ------------------------------------------------------------------------------------

// The operation that combines, and its neutral element.
struct Sum {
  static constexpr float kNeutral = 0;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  static constexpr float kNeutral = -INFINITY;
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

// Every lane gets the result: when two lanes exchange values, both add the same pair.
template <class F>
__device__ float butterfly(float v, F f) {
  for (int step = kWarpSize / 2; step > 0; step /= 2) v = f(v, __shfl_xor_sync(kAll, v, step));
  return v;
}

// Every thread of the block gets the result: each warp reads all warps' words and reduces them
// itself, which saves the second barrier. `words`: kBlock / kWarpSize, used by no other call.
template <class F>
__device__ float of_block(float v, F f, float* words) {
  int lane = threadIdx.x % kWarpSize;
  v = butterfly(v, f);
  if (lane == 0) words[threadIdx.x / kWarpSize] = v;
  __syncthreads();
  return butterfly(lane < kBlock / kWarpSize ? words[lane] : F::kNeutral, f);
}

// Count, mean, and the sum of squared distances from the mean: none of them is large unless the
// result is large.
struct Moments {
  float count, mean, squares;
};

// Chan, Golub and LeVeque: two samples become one. (Welford's update is the case b.count = 1.)
__device__ Moments merged(Moments a, Moments b) {
  float count = a.count + b.count, delta = b.mean - a.mean;
  float share = count > 0 ? b.count / count : 0;
  return {count, a.mean + delta * share, a.squares + b.squares + delta * delta * a.count * share};
}

// D1: a warp per row. A minimum is a maximum with the signs turned.
__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;  // the whole warp
  float least = INFINITY, most = -INFINITY;
  for (int c = lane; c < columns; c += kWarpSize) {
    float x = in[row * columns + c];
    least = fminf(least, x);
    most = fmaxf(most, x);
  }
  least = -butterfly(-least, Max());
  most = butterfly(most, Max());
  if (lane == 0) low[row] = least, high[row] = most;
}

// D2: a division for each element would take longer than memory does. So a lane takes eight at a
// time: mean and distances of these from registers, then one merge. The lanes merge the same way.
__global__ void row_moments(const float* in, float* mean, float* variance, int rows, int columns) {
  constexpr int kBatch = 8;
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;  // the whole warp
  Moments all = {0, 0, 0};
  for (int c = lane; c < columns; c += kBatch * kWarpSize) {
    int count = min(kBatch, ceil_div(columns - c, kWarpSize));
    Moments batch = {float(count), 0, 0};
    float x[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; ++k) {
      x[k] = k < count ? in[row * columns + c + k * kWarpSize] : 0;
      batch.mean += x[k];
    }
    batch.mean /= batch.count;
#pragma unroll
    for (int k = 0; k < kBatch; ++k)
      if (k < count) batch.squares += (x[k] - batch.mean) * (x[k] - batch.mean);
    all = merged(all, batch);
  }
  for (int step = kWarpSize / 2; step > 0; step /= 2) {
    all = merged(all,
                 {__shfl_down_sync(kAll, all.count, step), __shfl_down_sync(kAll, all.mean, step),
                  __shfl_down_sync(kAll, all.squares, step)});
  }
  if (lane == 0) mean[row] = all.mean, variance[row] = all.squares / all.count;
}

// One block per row. Its threads keep the row in registers: memory is read once. Registers have no
// index, so loops over `kept` are unrolled, and all loads are in flight at once. Three lengths,
// since a short row should not pay for the longest: 1, 4 or 16 elements per thread.
constexpr int kLongest = 4096;

struct Words {  // of shared memory: one for each warp, twice
  float first[kBlock / kWarpSize], second[kBlock / kWarpSize];
};

// No exponent is positive, so nothing overflows, and one of the terms is e^0.
template <int kKept>
__device__ void softmax_row(const float* row, float* result, int columns, Words& words) {
  float kept[kKept], top = -INFINITY, sum = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    kept[k] = c < columns ? row[c] : -INFINITY;
    top = fmaxf(top, kept[k]);
  }
  top = of_block(top, Max(), words.first);
#pragma unroll
  for (int k = 0; k < kKept; ++k) sum += kept[k] = __expf(kept[k] - top);
  float scale = 1 / of_block(sum, Sum(), words.second);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    int c = k * kBlock + threadIdx.x;
    if (c < columns) result[c] = kept[k] * scale;
  }
}

// D3
__global__ void softmax(const float* in, float* out, int columns) {
  __shared__ Words words;
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  if (columns <= kBlock)
    softmax_row<1>(row, result, columns, words);
  else if (columns <= 4 * kBlock)
    softmax_row<4>(row, result, columns, words);
  else
    softmax_row<kLongest / kBlock>(row, result, columns, words);
}

// Elements that are moved together. Rows that are no multiples of 4 elements do not begin at 16
// bytes: these are moved one by one.
template <int kWide>
struct alignas(kWide * sizeof(float)) Pack {
  float v[kWide];
};

// With the row in registers a second pass is free: first the mean, then the distances from it. Here
// weight and bias are read besides, from caches: a quarter of the requests is what vectors are for.
template <int kKept, int kWide>
__device__ void layer_norm_row(const float* row, const float* weight, const float* bias,
                               float* result, int columns, float epsilon, Words& words) {
  using Own = Pack<kWide>;
  Own kept[kKept];
  float sum = 0, squares = 0;
  const auto place = [](int k) { return k * kBlock + int(threadIdx.x); };
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    bool inside = kWide * place(k) < columns;
    kept[k] = inside ? reinterpret_cast<const Own*>(row)[place(k)] : Own{};
#pragma unroll
    for (float v : kept[k].v) sum += v;
  }
  float mean = of_block(sum, Sum(), words.first) / columns;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    bool inside = kWide * place(k) < columns;
#pragma unroll
    for (float& v : kept[k].v) {
      v -= mean;
      if (inside) squares += v * v;
    }
  }
  float scale = rsqrtf(of_block(squares, Sum(), words.second) / columns + epsilon);
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    if (kWide * place(k) >= columns) continue;
    Own w = reinterpret_cast<const Own*>(weight)[place(k)];
    Own b = reinterpret_cast<const Own*>(bias)[place(k)];
#pragma unroll
    for (int i = 0; i < kWide; ++i) kept[k].v[i] = kept[k].v[i] * scale * w.v[i] + b.v[i];
    reinterpret_cast<Own*>(result)[place(k)] = kept[k];
  }
}

// D4: six blocks per multiprocessor, or the longest row's registers leave room for five only.
__global__ void __launch_bounds__(kBlock, 6)
    layer_norm(const float* in, const float* weight, const float* bias, float* out, int columns,
               float epsilon) {
  __shared__ Words words;
  const float* row = in + blockIdx.x * columns;
  float* result = out + blockIdx.x * columns;
  if (columns % 4 != 0)
    layer_norm_row<kLongest / kBlock, 1>(row, weight, bias, result, columns, epsilon, words);
  else if (columns <= 4 * kBlock)
    layer_norm_row<1, 4>(row, weight, bias, result, columns, epsilon, words);
  else
    layer_norm_row<kLongest / kBlock / 4, 4>(row, weight, bias, result, columns, epsilon, words);
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
