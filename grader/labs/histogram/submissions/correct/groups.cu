// Lanes with equal keys as a group of cooperative_groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) {
      auto peers = cg::labeled_partition(cg::coalesced_threads(), key[i]);
      unsigned sum = cg::reduce(peers, weight[i], cg::plus<unsigned>());
      if (peers.thread_rank() == 0) atomicAdd(&own[key[i]], sum);
    }
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
