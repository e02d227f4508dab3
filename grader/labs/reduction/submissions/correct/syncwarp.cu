// The last warp without shuffles: load, sync, store, sync. v6 written out with `if constexpr`, v7
// with two elements per round, as in the SYSU Lecture, and v8 with a ticket.
__device__ void last_warp(int* sums, unsigned t) {
  int sum = sums[t];
#pragma unroll
  for (int distance = 32; distance > 0; distance /= 2) {
    sum += sums[t + distance];
    __syncwarp();
    sums[t] = sum;
    __syncwarp();
  }
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 32; distance >>= 1) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t < 32) last_warp(sums, t);
  if (t == 0) out[blockIdx.x] = sums[0];
}

template <unsigned kThreads, unsigned kDistance>
__device__ void step(int* sums) {
  if constexpr (kThreads >= 2 * kDistance) {
    unsigned t = threadIdx.x;
    if (t < kDistance) sums[t] += sums[t + kDistance];
    __syncthreads();
  }
}

template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * kThreads + t;
  sums[t] = in[i] + in[i + kThreads];
  __syncthreads();
  step<kThreads, 512>(sums);
  step<kThreads, 256>(sums);
  step<kThreads, 128>(sums);
  step<kThreads, 64>(sums);
  if (t < 32) last_warp(sums, t);
  if (t == 0) out[blockIdx.x] = sums[0];
}

LAB32_LAUNCH(reduce_v7, .block = 128, .items_per_thread = 32);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  T sum = 0;
  int threads = gridDim.x * kThreads;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += 2 * threads) {
    sum += in[i];
    if (i + threads < n) sum += in[i + threads];
  }
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

LAB32_LAUNCH(reduce_v8, .block = 512, .items_per_thread = 16, .blocks_per_sm = 4);

template <class T>
__device__ T sum_in_order[4096];
__device__ unsigned blocks_done;

// The block that finishes last adds the blocks' sums, in an order that does not depend on which
// block that is.
template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, stride = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = i < n % 4 ? in[4 * count + i] : T(0);
  for (; i + 3 * stride < count; i += 4 * stride) {
    Four<T> a = fours[i], b = fours[i + stride], c = fours[i + 2 * stride],
            d = fours[i + 3 * stride];
    sum += (a.sum() + b.sum()) + (c.sum() + d.sum());
  }
  for (; i < count; i += stride) sum += fours[i].sum();
  sum = block_sum<512>(sum);

  __shared__ bool last;
  if (threadIdx.x == 0) {
    sum_in_order<T>[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = 0;
#pragma unroll 1  // a round or two, and the last one with a part of a warp
  for (unsigned b = threadIdx.x; b < gridDim.x; b += 512) sum += sum_in_order<T>[b];
  sum = block_sum<512>(sum);
  if (threadIdx.x == 0) *out = sum;
}
