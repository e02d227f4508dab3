// verdict: B5 spectrum: wavefronts | failed | "The kernel moves"
// An atomic in device memory for each event, and a store to shared memory beside it.
__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  __shared__ unsigned energy[kBlock];
  volatile unsigned* own = energy + threadIdx.x;
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&total[events[i] % kChannels], events[i] / kChannels);
    *own = k;
  }
}
