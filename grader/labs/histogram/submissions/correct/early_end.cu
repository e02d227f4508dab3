// The loop ends at the last key, and atomicAdd's result is asked for and not used.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += kBlock) own[bin] = 0;
  __syncthreads();
  int end = min(n, static_cast<int>(blockIdx.x + 1) * kKeysPerBlock);
  for (int i = blockIdx.x * kKeysPerBlock + threadIdx.x; i < end; i += kBlock) {
    unsigned before = atomicAdd(own + key[i], 1u);
    (void)before;
  }
  __syncthreads();
  atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}
