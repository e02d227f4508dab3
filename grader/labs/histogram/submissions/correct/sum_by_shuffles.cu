// The lanes of a group pass their weights one by one.
__device__ unsigned sum_of_group(unsigned peers, unsigned weight) {
  unsigned sum = 0;
  for (unsigned rest = peers; rest; rest &= rest - 1)
    sum += __shfl_sync(peers, weight, __ffs(rest) - 1);
  return sum;
}
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
      unsigned peers = __match_any_sync(active, key[i]);
      unsigned sum = sum_of_group(peers, weight[i]);
      if (threadIdx.x % kWarpSize == __ffs(peers) - 1) atomicAdd(&own[key[i]], sum);
    }
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
