// Sums by warps: shuffles for the last steps of the tree, one warp per channel in the spectrum.
__global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int sums[kBlock / 32];
  int t = threadIdx.x;
  int i = kBlock * blockIdx.x + t;
  int sum = i < n ? in[i] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t < 32) {
    sum = t < kBlock / 32 ? sums[t] : 0;
    for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (t == 0) out[blockIdx.x] = sum;
  }
}

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kChannels][kWarpSize];
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) energy[c][lane] = 0;
  __syncthreads();
  int end = min(n, 64 * kBlock * (int(blockIdx.x) + 1));
  for (int i = 64 * kBlock * blockIdx.x + threadIdx.x; i < end; i += kBlock) {
    atomicAdd(&energy[events[i] % kChannels][lane], events[i] / kChannels);
  }
  __syncthreads();
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) {
    unsigned sum = energy[c][lane];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0) atomicAdd(&total[c], sum);
  }
}
