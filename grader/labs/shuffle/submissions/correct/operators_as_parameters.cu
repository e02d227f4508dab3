// A warp's reduction for any operator and any structure, as a template over a struct with a merge;
// the block's by the warps' results in shared memory, read in order by every thread.
struct Extent {
  float low = INFINITY, high = -INFINITY;
  __device__ static Extent of(float x) {
    Extent e;
    e.low = e.high = x;
    return e;
  }
  __device__ void take(const Extent& o) { low = fminf(low, o.low), high = fmaxf(high, o.high); }
};

struct Total {
  float sum = 0;
  __device__ static Total of(float x) {
    Total t;
    t.sum = x;
    return t;
  }
  __device__ void take(const Total& o) { sum += o.sum; }
};

// Word by word, whatever T is made of.
template <class T>
__device__ T from_lane_above(const T& v, int step) {
  static_assert(sizeof(T) % 4 == 0);
  union Words {
    __device__ Words() {}
    T value;
    unsigned word[sizeof(T) / 4];
  } words;
  words.value = v;
  for (unsigned& w : words.word) w = __shfl_down_sync(kAll, w, step);
  return words.value;
}

template <class T>
__device__ T of_warp(T v) {
#pragma unroll
  for (int step = kWarpSize >> 1; step; step >>= 1) v.take(from_lane_above(v, step));
  return v;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ Total parts[kWarpSize];
  int t = threadIdx.x, warps = blockDim.x / kWarpSize;
  long long i = 2ll * blockIdx.x * blockDim.x + t;
  Total total;
  if (i < n) total.take(Total::of(in[i]));
  if (i + blockDim.x < n) total.take(Total::of(in[i + blockDim.x]));
  total = of_warp(total);
  if (t % kWarpSize == 0) parts[t / kWarpSize] = total;
  __syncthreads();
  if (t >= kWarpSize) return;
  total = of_warp(t < warps ? parts[t] : Total());
  if (t == 0) out[blockIdx.x] = total.sum;
}

__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  Total mine = of_warp(i < n ? Total::of(in[i]) : Total());
  if (threadIdx.x % kWarpSize == 0) atomicAdd(total, mine.sum);
}

__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize, lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  Extent all;
#pragma unroll 4
  for (int c = lane; c < columns; c += kWarpSize) all.take(Extent::of(in[row * columns + c]));
  all = of_warp(all);
  if (lane == 0) low[row] = all.low, high[row] = all.high;
}
