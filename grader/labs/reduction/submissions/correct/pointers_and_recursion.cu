// v2 to v5 have C linkage; v3 adds through a function pointer, v4 through a virtual function, and v2
// has an assertion and a printf. v6 is a recursive template, v7 halves a thread's elements recursively.
#include <cassert>
#include <cstdio>

extern "C" __global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = 2 * distance * t;
    assert(distance < blockDim.x);
    if (distance > 1024) printf("%u\n", distance);
    if (i < blockDim.x) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

typedef int (*Add)(int, int);
__device__ int plus(int a, int b) { return a + b; }
__device__ Add the_add = plus;
struct Adder { __device__ virtual int operator()(int a, int b) const { return b - a; } };
struct Right : Adder { __device__ int operator()(int a, int b) const override { return a + b; } };
extern "C" __global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  Add add = *(Add volatile*)&the_add;
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] = add(sums[t], sums[t + distance]);
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  Right right;
  const Adder& add = right;
  sums[t] = add(in[i], in[i + blockDim.x]);
  __syncthreads();
  halve(sums, 1);
  if (t == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 2 * kWarpSize);
  if (t >= kWarpSize) return;
  int sum = warp_sum(sums[t] + sums[t + kWarpSize]);
  if (t == 0) out[blockIdx.x] = sum;
}

template <unsigned kDistance, class T>
__device__ void fold(T* sums, unsigned t) {
  if constexpr (kDistance > kWarpSize) {
    if (t < kDistance) sums[t] += sums[t + kDistance];
    __syncthreads();
    fold<kDistance / 2>(sums, t);
  }
}
template <unsigned kThreads, class T>
__device__ T block_sum(T sum) {
  __shared__ T sums[kThreads];
  unsigned t = threadIdx.x;
  sums[t] = sum;
  __syncthreads();
  fold<kThreads / 2>(sums, t);
  if (t < kWarpSize) sum = warp_sum(sums[t] + sums[t + kWarpSize]);
  return sum;
}

template <class T>
__device__ T strided_sum(const T* in, int first, int step, int count) {
  T sum = 0;
  if (count <= 32) {
    for (int k = 0; k < count; ++k) sum += in[first + k * step];
    return sum;
  }
  int half = count / 2;
  return strided_sum(in, first, step, half) + strided_sum(in, first + half * step, step, count - half);
}

LAB32_LAUNCH(reduce_v7, .block = 256, .items_per_thread = 16, .blocks_per_sm = 8);

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int first = blockIdx.x * kThreads + threadIdx.x, step = gridDim.x * kThreads;
  T sum = first < n ? strided_sum(in, first, step, (n - first + step - 1) / step) : T(0);
  sum = block_sum<kThreads>(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
