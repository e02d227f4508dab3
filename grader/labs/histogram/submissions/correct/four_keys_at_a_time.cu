// Four keys at a time, as a vector where all four exist.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  int first = blockIdx.x * kKeysPerBlock;
  for (int k = 4 * threadIdx.x; k < kKeysPerBlock; k += 4 * kBlock) {
    if (first + k + 3 < n) {
      int4 four = *reinterpret_cast<const int4*>(key + first + k);
      atomicAdd(&own[four.x], 1u);
      atomicAdd(&own[four.y], 1u);
      atomicAdd(&own[four.z], 1u);
      atomicAdd(&own[four.w], 1u);
    } else {
      for (int i = first + k; i < n && i < first + k + 4; ++i) atomicAdd(&own[key[i]], 1u);
    }
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}
