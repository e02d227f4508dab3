// Cooperative groups: cg::reduce over tiles in B2 and B3, a tile of the warps' words, and in C3
// labelled groups, whose lanes reduce among themselves.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

template <class T>
__device__ T warp_reduce_sum(T v) {
  return cg::reduce(cg::tiled_partition<32>(cg::this_thread_block()), v, cg::plus<T>());
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  int size = block.size(), i = 2 * size * blockIdx.x + block.thread_rank();
  float sum =
      cg::reduce(warp, (i < n ? in[i] : 0) + (i + size < n ? in[i + size] : 0), cg::plus<float>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() != 0) return;
  sum = warp.thread_rank() < warp.meta_group_size() ? sums[warp.thread_rank()] : 0;
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) out[blockIdx.x] = sum;
}

__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = cg::this_grid().thread_rank();
  if (i >= n) return;
  int mine = key[i];
  auto peers = cg::labeled_partition(cg::coalesced_threads(), mine);
  float sum = cg::reduce(peers, value[i], cg::plus<float>());
  if (peers.thread_rank() == 0) atomicAdd(totals + mine, sum);
}

__global__ void row_range(const float* in, float* low, float* high, int rows, int columns) {
  auto warp = cg::tiled_partition<kWarpSize>(cg::this_thread_block());
  int row = blockIdx.x * warp.meta_group_size() + warp.meta_group_rank();
  if (row >= rows) return;
  float least = INFINITY, most = -INFINITY;
  for (int c = warp.thread_rank(); c < columns; c += warp.size()) {
    float x = in[size_t(row) * columns + c];
    least = fminf(least, x);
    most = fmaxf(most, x);
  }
  least = cg::reduce(warp, least, [](float a, float b) { return fminf(a, b); });
  most = cg::reduce(warp, most, cg::greater<float>());
  if (warp.thread_rank() == 0) low[row] = least, high[row] = most;
}
