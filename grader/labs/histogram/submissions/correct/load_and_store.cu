// The plain add as a load and a store with a barrier of the warp on both sides.
__global__ void histogram_warp(const int* key, const unsigned* weight, unsigned* bins, int n) {
  __shared__ unsigned own[kWarps][kBins];
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int bin = lane; bin < kBins; bin += kWarpSize) own[warp][bin] = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    int mine = i < n ? key[i] : -1;
    unsigned peers = __match_any_sync(0xffffffff, mine);
    unsigned sum = __reduce_add_sync(peers, i < n ? weight[i] : 0);
    if (i < n && __ffs(peers) - 1 == lane) {
      unsigned before = own[warp][mine];
      own[warp][mine] = before + sum;
    }
    __syncwarp();
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += own[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}
