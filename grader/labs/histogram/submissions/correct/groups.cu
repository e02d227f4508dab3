// Lanes with equal keys as a group of cooperative_groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
#pragma unroll 1
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) {
      int mine = key[i];
      unsigned own_weight = weight[i];
      auto peers = cg::labeled_partition(cg::coalesced_threads(), mine);
      unsigned sum = cg::reduce(peers, own_weight, cg::plus<unsigned>());
      if (peers.thread_rank() == 0) atomicAdd(&own[mine], sum);
    }
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
