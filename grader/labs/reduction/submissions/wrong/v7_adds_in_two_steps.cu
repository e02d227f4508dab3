// verdict: v7 int: result | failed | "lost update of out"
// verdict: v7 float: result | failed | "lost update of out"
// verdict: v7: sectors | failed | "counts once the result is right"
// verdict: v7: instructions | failed | "counts once"
// The load and the store are atomic, but not the two together: blocks overwrite each other's sums.
#include <cuda/atomic>

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  int step = gridDim.x * kThreads;
  T sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sum = block_sum<kThreads>(sum);
  const cuda::atomic_ref<T, cuda::thread_scope_device> total(*out);
  if (threadIdx.x == 0)
    total.store(total.load(cuda::memory_order_relaxed) + sum, cuda::memory_order_relaxed);
}
