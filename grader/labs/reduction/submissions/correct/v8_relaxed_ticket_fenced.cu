// Sums and tickets are relaxed atomics with fences between them.
#include <cuda/atomic>

template <class T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

template <class T>
__device__ T partial_of_block[kBestBlocks];
__device__ unsigned tickets;

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
  __shared__ bool last;
  if (threadIdx.x == 0) {
    Shared<T>(partial_of_block<T>[blockIdx.x]).store(sum, kRelaxed);
    __threadfence();
    last = Shared<unsigned>(tickets).fetch_add(1, kRelaxed) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBestThreads)
    sum += Shared<T>(partial_of_block<T>[b]).load(kRelaxed);
  sum = fast_block_sum(sum);
  if (threadIdx.x != 0) return;
  *out = sum;
  Shared<unsigned>(tickets).store(0, kRelaxed);
}
