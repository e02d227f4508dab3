// Cooperative groups in place of threadIdx, barriers and shuffles: blocks, tiles, cg::reduce and
// cg::inclusive_scan.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void row_scan(const int* in, int* out, int n) {
  auto warp = cg::tiled_partition<kWarpSize>(cg::this_thread_block());
  int first = kBlock * blockIdx.x, rows = min(kBlock, n - first);
  for (int r = warp.meta_group_rank(); r < rows; r += warp.meta_group_size()) {
    size_t at = size_t(first + r) * kWarpSize + warp.thread_rank();
    out[at] = cg::inclusive_scan(warp, in[at]);
  }
}

__global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int sums[kBlock / kWarpSize];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<kWarpSize>(block);
  auto few = cg::tiled_partition<kBlock / kWarpSize>(block);
  int i = kBlock * blockIdx.x + block.thread_rank();
  int sum = cg::reduce(warp, i < n ? in[i] : 0, cg::plus<int>());
  if (warp.thread_rank() == 0) sums[warp.meta_group_rank()] = sum;
  block.sync();
  if (few.meta_group_rank() != 0) return;
  sum = cg::reduce(few, sums[few.thread_rank()], cg::plus<int>());
  if (few.thread_rank() == 0) out[blockIdx.x] = sum;
}

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels][kWarpSize];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<kWarpSize>(block);
  unsigned lane = warp.thread_rank(), warps = warp.meta_group_size();
  for (unsigned c = warp.meta_group_rank(); c < kChannels; c += warps) energy[c][lane] = 0;
  block.sync();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + block.thread_rank();
    if (i < n) atomicAdd_block(&energy[events[i] % kChannels][lane], events[i] / kChannels);
  }
  block.sync();
  for (unsigned c = warp.meta_group_rank(); c < kChannels; c += warps) {
    unsigned sum = cg::reduce(warp, energy[c][lane], cg::plus<unsigned>());
    if (lane == 0) atomicAdd(&total[c], sum);
  }
}
