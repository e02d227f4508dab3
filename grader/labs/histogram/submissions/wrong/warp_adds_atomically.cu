// verdict: B3 warp: atomics | failed | "shared atomics, where 0 are enough"
// half right
// A histogram of each warp, and atomics all the same.
__global__ void histogram_warp(const int* key, const unsigned* weight, unsigned* bins, int n) {
  __shared__ unsigned own[kWarps][kBins];
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int bin = lane; bin < kBins; bin += kWarpSize) own[warp][bin] = 0;
  __syncwarp();
  for (int k = threadIdx.x; k < kKeysPerBlock; k += kBlock) {
    int i = blockIdx.x * kKeysPerBlock + k;
    if (i < n) atomicAdd(&own[warp][key[i]], weight[i]);
  }
  __syncthreads();
  unsigned sum = 0;
  for (int w = 0; w < kWarps; ++w) sum += own[w][threadIdx.x];
  atomicAdd(&bins[threadIdx.x], sum);
}
