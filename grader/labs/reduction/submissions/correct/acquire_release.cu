// v8 ends with C++ atomics: the increment of a counter releases a block's sum and acquires the
// others', in grid-stride loops over 64-bit indices with two independent chains per thread.
#include <cuda/atomic>

LAB32_LAUNCH(reduce_v8, .block = 1024, .items_per_thread = 8, .blocks_per_sm = 2);

template <class T>
__device__ T released[kBestBlocks];
__device__ cuda::atomic<unsigned, cuda::thread_scope_device> arrived;

template <class T>
__global__ void reduce_v8(const T* __restrict__ in, T* __restrict__ out, int n) {
  const auto* fours = reinterpret_cast<const Four<T>*>(in);
  const size_t count = size_t(n) / 4, step = size_t(gridDim.x) * blockDim.x;
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  T even = i < size_t(n) % 4 ? in[4 * count + i] : T(0), odd = 0;
  for (; i + step < count; i += 2 * step) {
    const Four<T> a = fours[i], b = fours[i + step];
    even += a.sum();
    odd += b.sum();
  }
  if (i < count) even += fours[i].sum();
  T sum = fast_block_sum(even + odd);

  __shared__ bool last;
  if (threadIdx.x == 0) {
    released<T>[blockIdx.x] = sum;
    last = arrived.fetch_add(1, cuda::memory_order_acq_rel) + 1 == gridDim.x;
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += released<T>[b];
  sum = fast_block_sum(sum);
  if (threadIdx.x != 0) return;
  *out = sum;
  arrived.store(0, cuda::memory_order_relaxed);
}
