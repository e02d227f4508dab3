// verdict: B5 spectrum: result | failed | "race on total["
// verdict: B5 spectrum: wavefronts | failed | "counts once the result is right"
// A block adds its sums by volatile loads and stores, so blocks overwrite each other's.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels * kWarpSize];
  int lane = threadIdx.x % kWarpSize;
  for (int j = threadIdx.x; j < kChannels * kWarpSize; j += kBlock) energy[j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) {
      atomicAdd(&energy[events[i] % kChannels * kWarpSize + lane], events[i] / kChannels);
    }
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int k = 0; k < kWarpSize; ++k) {
      sum += energy[kWarpSize * threadIdx.x + (lane + k) % kWarpSize];
    }
    volatile unsigned* t = &total[threadIdx.x];
    *t = *t + sum;
  }
}
