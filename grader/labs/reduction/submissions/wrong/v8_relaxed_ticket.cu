// verdict: v8 int: result | failed | "stale value of partial_of_block"
// verdict: v8 float: result | failed | "stale value of partial_of_block"
// verdict: v8: requests | failed | "counts once the result is right"
// verdict: v8: threads | failed | "counts once"
// verdict: v8: instructions | failed | "counts once"
// Sums and tickets are relaxed atomics, so no access races; but nothing orders sum and ticket.
#include <cuda/atomic>

template <class T>
using Shared = cuda::atomic_ref<T, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

template <class T>
__device__ T partial_of_block[kBestBlocks];
__device__ unsigned tickets;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  T sum = 0;
  for (int i = blockIdx.x * kBestThreads + threadIdx.x; i < n; i += gridDim.x * kBestThreads)
    sum += in[i];
  sum = fast_block_sum(sum);
  __shared__ bool last;
  if (threadIdx.x == 0) {
    Shared<T>(partial_of_block<T>[blockIdx.x]).store(sum, kRelaxed);
    last = Shared<unsigned>(tickets).fetch_add(1, kRelaxed) == gridDim.x - 1;
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
