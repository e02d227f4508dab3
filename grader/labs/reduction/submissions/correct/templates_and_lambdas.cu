// One tree for v2 to v6, with lambdas that choose the words to add: steps by recursion in a
// template, early returns, pointers that are incremented, and a fold expression for v6.
template <class Step>
__device__ void each_step(unsigned steps, Step step) {
  __syncthreads();
  for (unsigned k = 0; k != steps; ++k, __syncthreads()) step(k);
}

__device__ unsigned steps_of(unsigned threads) { return 31 - __clz(int(threads)); }

__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  const unsigned t = threadIdx.x;
  in += size_t(blockIdx.x) * blockDim.x + t;
  sums[t] = *in;
  each_step(steps_of(blockDim.x), [&](unsigned k) {
    if (t >= blockDim.x >> (k + 1)) return;
    int* at = sums + (size_t(t) << (k + 1));
    *at += at[1 << k];
  });
  if (t == 0) out[blockIdx.x] = *sums;
}

__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  const unsigned t = threadIdx.x;
  sums[t] = __ldg(in + blockIdx.x * blockDim.x + t);
  each_step(steps_of(blockDim.x), [&, half = blockDim.x](unsigned) mutable {
    half /= 2;
    if (t < half) sums[t] += sums[half + t];
  });
  if (t == 0) out[blockIdx.x] = *sums;
}

__global__ void reduce_v4(const int* __restrict__ in, int* __restrict__ out) {
  __shared__ int sums[kMostThreads];
  const unsigned t = threadIdx.x;
  const int* near = in + 2 * size_t(blockIdx.x) * blockDim.x + t;
  sums[t] = *near + near[blockDim.x];
  each_step(steps_of(blockDim.x), [&, half = blockDim.x](unsigned) mutable {
    half /= 2;
    if (t < half) sums[t] += sums[half + t];
  });
  if (t == 0) out[blockIdx.x] = *sums;
}

template <unsigned kHalf>
__device__ __forceinline__ void halved(int* own) {
  if constexpr (kHalf > 32) {
    if (threadIdx.x < kHalf) *own += own[kHalf];
    __syncthreads();
    halved<kHalf / 2>(own);
  }
}

template <unsigned... kSteps>
struct Steps {
  static __device__ int sum_of(int sum) {
    ((sum += __shfl_down_sync(kWholeWarp, sum, kSteps)), ...);
    return sum;
  }
};

template <unsigned kThreads>
__global__ void __launch_bounds__(kThreads) reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  int* own = sums + threadIdx.x;
  in += 2 * blockIdx.x * kThreads + threadIdx.x;
  *own = in[0] + in[kThreads];
  __syncthreads();
  halved<kThreads / 2>(own);
  if (threadIdx.x >= 32) return;
  int sum = Steps<16, 8, 4, 2, 1>::sum_of(own[0] + own[32]);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
