// Cooperative groups: the block's barrier, cg::reduce for the last warp, and a v8 in which the
// block with the last ticket adds the sums of all blocks.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  auto block = cg::this_thread_block();
  unsigned t = block.thread_rank();
  sums[t] = in[block.group_index().x * block.size() + t];
  block.sync();
  for (unsigned distance = 1; distance < block.size(); distance *= 2) {
    unsigned i = 2 * distance * t;
    if (i < block.size()) sums[i] += sums[i + distance];
    block.sync();
  }
  if (t == 0) out[block.group_index().x] = sums[0];
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  unsigned t = block.thread_rank(), i = 2 * blockIdx.x * block.size() + t;
  sums[t] = in[i] + in[i + block.size()];
  block.sync();
  for (unsigned distance = block.size() / 2; distance >= 64; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    block.sync();
  }
  if (warp.meta_group_rank() != 0) return;
  int sum = cg::reduce(warp, sums[t] + sums[t + 32], cg::plus<int>());
  if (t == 0) out[blockIdx.x] = sum;
}

// The block's sum in every thread of its first warp; `sums` has a word for each warp.
template <class T>
__device__ T sum_of_tiles(const cg::thread_block& block, T* sums, T sum) {
  auto warp = cg::tiled_partition<32>(block);
  sum = cg::reduce(warp, sum, cg::plus<T>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() != 0) return sum;
  T of_warp = warp.thread_rank() < warp.meta_group_size() ? sums[warp.thread_rank()] : T(0);
  return cg::reduce(warp, of_warp, cg::plus<T>());
}

template <class T, unsigned kThreads>
__global__ void reduce_v7(const T* in, T* out, int n) {
  __shared__ T sums[32];
  int step = gridDim.x * kThreads;
  T sum = 0;
#pragma unroll 4
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += step) sum += in[i];
  sum = sum_of_tiles(cg::this_thread_block(), sums, sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

LAB32_LAUNCH(reduce_v8, .block = 256, .items_per_thread = 16, .blocks_per_sm = 6);

template <class T>
__device__ T left_by_blocks[4096];
__device__ unsigned finished;

template <class T>
__global__ void reduce_v8(const T* in, T* out, int n) {
  __shared__ T sums[32];
  __shared__ bool last;
  auto block = cg::this_thread_block();
  const Four<T>* fours = reinterpret_cast<const Four<T>*>(in);
  int count = n / 4, step = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  T sum = i < n % 4 ? in[4 * count + i] : T(0);
#pragma unroll 4
  for (; i < count; i += step) sum += fours[i].sum();
  sum = sum_of_tiles(block, sums, sum);
  if (block.thread_rank() == 0) {
    left_by_blocks<T>[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(&finished, 1u) == gridDim.x - 1;
  }
  block.sync();
  if (!last) return;
  __threadfence();
  sum = 0;
  for (unsigned b = block.thread_rank(); b < gridDim.x; b += block.size())
    sum += left_by_blocks<T>[b];
  sum = sum_of_tiles(block, sums, sum);
  if (block.thread_rank() != 0) return;
  *out = sum;
  finished = 0;
}
