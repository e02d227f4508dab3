// verdict: v8 int: result | failed | "out[0] is"
// verdict: v8 float: result | failed | "out[0] is"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// Sums and flags are relaxed atomics. The fences between them have the scope of the block.
#include <cuda/atomic>

template <class T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

template <class T>
__device__ T partial_of_block[kBestBlocks];
__device__ unsigned ready[kBestBlocks];

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  if (blockIdx.x != gridDim.x - 1) {
    if (threadIdx.x == 0) {
      Shared<T>(partial_of_block<T>[blockIdx.x]).store(sum, kRelaxed);
      __threadfence_block();
      Shared<unsigned>(ready[blockIdx.x]).store(1, kRelaxed);
    }
    return;
  }
  if (threadIdx.x != 0) sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x - 1; b += kBestThreads) {
    while (Shared<unsigned>(ready[b]).load(kRelaxed) == 0) {
    }
    __threadfence_block();
    sum += Shared<T>(partial_of_block<T>[b]).load(kRelaxed);
    Shared<unsigned>(ready[b]).store(0, kRelaxed);
  }
  __syncthreads();
  sum = fast_block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}
