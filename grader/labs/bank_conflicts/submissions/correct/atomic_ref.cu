// C++ atomics: cuda::atomic_ref, with block scope in shared memory and with device scope on the
// totals, both relaxed.
#include <cuda/atomic>

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  using InBlock = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;
  using OnDevice = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  __shared__ unsigned energy[kChannels][kWarpSize];
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) energy[c][lane] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i >= n) continue;
    InBlock(energy[events[i] % kChannels][lane])
        .fetch_add(events[i] / kChannels, cuda::memory_order_relaxed);
  }
  __syncthreads();
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) {
    unsigned sum = __reduce_add_sync(0xffffffff, energy[c][lane]);
    if (lane == 0) OnDevice(total[c]).fetch_add(sum, cuda::memory_order_relaxed);
  }
}
