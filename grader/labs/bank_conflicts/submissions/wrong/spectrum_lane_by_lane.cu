// verdict: B5 spectrum: wavefronts | failed | "the atomics of 32 lanes, 4 bytes each, take"
// A copy per lane, and all copies of a channel in one bank.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels * kWarpSize];
  int lane = threadIdx.x % kWarpSize;
  for (int j = threadIdx.x; j < kChannels * kWarpSize; j += kBlock) energy[j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[kChannels * lane + events[i] % kChannels], events[i] / kChannels);
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int k = 0; k < kWarpSize; ++k) sum += energy[kChannels * k + threadIdx.x];
    atomicAdd(&total[threadIdx.x], sum);
  }
}
