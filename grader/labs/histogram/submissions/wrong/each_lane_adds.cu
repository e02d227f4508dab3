// verdict: B2 aggregated: wavefronts | failed | "the atomics of 32 lanes, 4 bytes each, take"
// B1 with weights: lanes with equal keys wait for each other.
__global__ void histogram_aggregated(const int* key, const unsigned* weight, unsigned* bins,
                                     int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&own[key[i]], weight[i]);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
