// verdict: B3 warp: result | failed | "race"
// verdict: B3 warp: atomics | failed | "once the result is right"
// Plain adds to one histogram of the block.
__global__ void histogram_warp(const int* key, const unsigned* weight, unsigned* bins, int n) {
  __shared__ unsigned own[kBins];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    int mine = i < n ? key[i] : -1;
    unsigned peers = __match_any_sync(0xffffffff, mine);
    unsigned sum = __reduce_add_sync(peers, i < n ? weight[i] : 0);
    if (i < n && threadIdx.x % kWarpSize == __ffs(peers) - 1) own[mine] += sum;
    __syncwarp();
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
