// One arbitrary lane of a warp: cg::invoke_one, which is elect.sync from sm_90 on.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  namespace cg = cooperative_groups;
  __shared__ unsigned energy[kChannels][kWarpSize];
  auto warp = cg::tiled_partition<kWarpSize>(cg::this_thread_block());
  unsigned lane = warp.thread_rank(), warps = warp.meta_group_size();
  for (unsigned c = warp.meta_group_rank(); c < kChannels; c += warps) energy[c][lane] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[events[i] % kChannels][lane], events[i] / kChannels);
  }
  __syncthreads();
  for (unsigned c = warp.meta_group_rank(); c < kChannels; c += warps) {
    unsigned sum = cg::reduce(warp, energy[c][lane], cg::plus<unsigned>());
    cg::invoke_one(warp, [&] { atomicAdd(&total[c], sum); });
  }
}
