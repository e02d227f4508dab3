// verdict: B5 spectrum: result | failed | "race"
// verdict: B5 spectrum: wavefronts | failed | "counts once the result is right"
// A word a lane is no word per thread: eight warps share it.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels * kWarpSize];
  int lane = threadIdx.x % kWarpSize;
  for (int j = threadIdx.x; j < kChannels * kWarpSize; j += kBlock) energy[j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) energy[events[i] % kChannels * kWarpSize + lane] += events[i] / kChannels;
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int k = 0; k < kWarpSize; ++k) {
      sum += energy[kWarpSize * threadIdx.x + (lane + k) % kWarpSize];
    }
    atomicAdd(&total[threadIdx.x], sum);
  }
}
