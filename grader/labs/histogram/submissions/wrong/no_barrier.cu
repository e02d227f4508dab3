// verdict: B1 block: result | failed | "race"
// verdict: B1 block: adds | failed | "once the result is right"
// No barrier between the zeros and the first adds.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&own[key[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
