// Each block waits for its predecessor's sum, adds its own and passes it on: value and flag are one
// 64-bit word, so that no fence is needed.
#include <cuda/atomic>

template <class T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

__device__ unsigned long long passed_on[kBestBlocks];
__device__ unsigned bits_of(int v) { return unsigned(v); }
__device__ unsigned bits_of(float v) { return __float_as_uint(v); }
template <class T> __device__ T of_bits(unsigned b);
template <> __device__ int of_bits<int>(unsigned b) { return int(b); }
template <> __device__ float of_bits<float>(unsigned b) { return __uint_as_float(b); }

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, t = threadIdx.x;
  T sum = blockIdx.x == 0 && t < n % 4 ? in[4 * count + t] : 0;
  for (int i = blockIdx.x * kTile + t; i < count; i += gridDim.x * kTile) {
    Four<T> got[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      int there = i + k * kBestThreads;
      got[k] = there < count ? fours[there] : Four<T>{};
    }
    sum += (got[0].sum() + got[1].sum()) + (got[2].sum() + got[3].sum());
  }
  sum = fast_block_sum(sum);
  if (threadIdx.x != 0) return;
  if (blockIdx.x > 0) {
    const Shared<unsigned long long> before(passed_on[blockIdx.x - 1]);
    unsigned long long got = 0;
    while ((got = before.load(kRelaxed)) >> 32 == 0) {
    }
    sum += of_bits<T>(unsigned(got));
    before.store(0, kRelaxed);
  }
  const bool last = blockIdx.x == gridDim.x - 1;
  Shared<unsigned long long>(passed_on[blockIdx.x])
      .store(last ? 0 : 1ull << 32 | bits_of(sum), kRelaxed);
  if (last) *out = sum;
}
