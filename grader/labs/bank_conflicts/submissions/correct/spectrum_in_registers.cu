// B5 adds equal neighbours in a register, and needs fewer atomics than there are events.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  // two events per thread first combined when they share a channel
  __shared__ unsigned e[kChannels][32];
  for (int j = threadIdx.x; j < 32 * kChannels; j += kBlock) (&e[0][0])[j] = 0;
  __syncthreads();
  int lane = threadIdx.x % 32;
  unsigned cur = 0, acc = 0;
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) { unsigned v = events[i], c = v % kChannels;
      if (c != cur) { if (acc) atomicAdd(&e[cur][lane], acc); cur = c; acc = 0; }
      acc += v / kChannels; }
  }
  if (acc) atomicAdd(&e[cur][lane], acc);
  __syncthreads();
  for (int c = threadIdx.x / 32; c < kChannels; c += 8) {
    unsigned s = __reduce_add_sync(~0u, e[c][lane]);
    if (lane == 0) atomicAdd(&total[c], s);
  }
}
