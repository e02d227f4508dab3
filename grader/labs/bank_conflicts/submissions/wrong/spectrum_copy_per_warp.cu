// verdict: B5 spectrum: wavefronts | failed | "the atomics of 32 lanes, 4 bytes each, take"
// half right
// A copy for each warp: the eight no longer wait for each other, and the lanes of one still do.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kBlock / kWarpSize][kChannels];
  int warp = threadIdx.x / kWarpSize;
  for (int j = threadIdx.x; j < kBlock / kWarpSize * kChannels; j += kBlock) energy[0][j] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[warp][events[i] % kChannels], events[i] / kChannels);
  }
  __syncthreads();
  if (threadIdx.x < kChannels) {
    unsigned sum = 0;
    for (int w = 0; w < kBlock / kWarpSize; ++w) sum += energy[w][threadIdx.x];
    atomicAdd(&total[threadIdx.x], sum);
  }
}
