// verdict: B2 aggregated: result | failed | "where"
// verdict: B2 aggregated: wavefronts | failed | "once the result is right"
// Lane 0 adds for all lanes, whatever their keys are.
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    unsigned active = __ballot_sync(0xffffffff, i < n);
    if (i >= n) continue;
    unsigned sum = __reduce_add_sync(active, weight[i]);
    if (threadIdx.x % kWarpSize == 0) atomicAdd(&own[key[i]], sum);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
