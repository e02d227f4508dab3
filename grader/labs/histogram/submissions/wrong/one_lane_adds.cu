// verdict: B1 block: adds | failed | "of all threads work"
// One thread of each block counts all keys of the block: few adds, and no work that is shared.
__global__ void histogram_block(const int* key, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = blockIdx.x * kKeysPerBlock; i < (blockIdx.x + 1) * kKeysPerBlock && i < n; ++i)
      ++own[key[i]];
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
