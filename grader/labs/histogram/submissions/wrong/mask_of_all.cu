// verdict: B2 aggregated: result | failed | "lane"
// verdict: B2 aggregated: wavefronts | failed | "once the result is right"
// The mask names lanes behind the end of the keys, which never reach the operation.
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i >= n) continue;
    unsigned peers = __match_any_sync(0xffffffff, key[i]);
    unsigned sum = __reduce_add_sync(peers, weight[i]);
    if (threadIdx.x % kWarpSize == __ffs(peers) - 1) atomicAdd(&own[key[i]], sum);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
