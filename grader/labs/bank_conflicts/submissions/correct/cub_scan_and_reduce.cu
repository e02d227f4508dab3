// CUB's primitives: a warp scans one row at a time, a block reduces, a warp sums up a channel.
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

__global__ void row_scan(const int* in, int* out, int n) {
  using Scan = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage temp[kBlock / kWarpSize];
  int warp = threadIdx.x / kWarpSize, lane = threadIdx.x % kWarpSize;
  int end = min(n, kBlock * (int(blockIdx.x) + 1));
  for (int row = kBlock * blockIdx.x + warp; row < end; row += kBlock / kWarpSize) {
    int sum = in[32 * row + lane];
    Scan(temp[warp]).InclusiveSum(sum, sum);
    out[32 * row + lane] = sum;
  }
}

__global__ void block_sums(const int* in, int* out, int n) {
  using Reduce = cub::BlockReduce<int, kBlock>;
  __shared__ typename Reduce::TempStorage temp;
  int i = kBlock * blockIdx.x + threadIdx.x;
  int sum = Reduce(temp).Sum(i < n ? in[i] : 0);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void spectrum(const unsigned* events, unsigned* total, int n) {
  using Reduce = cub::WarpReduce<unsigned>;
  __shared__ unsigned energy[kChannels][kWarpSize];
  typename Reduce::TempStorage temp;  // of a whole warp: empty, since it shuffles
  int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) energy[c][lane] = 0;
  __syncthreads();
  for (int k = 0; k < 64; ++k) {
    int i = kBlock * (64 * blockIdx.x + k) + threadIdx.x;
    if (i < n) atomicAdd(&energy[events[i] % kChannels][lane], events[i] / kChannels);
  }
  __syncthreads();
  for (int c = warp; c < kChannels; c += kBlock / kWarpSize) {
    unsigned sum = Reduce(temp).Sum(energy[c][lane]);
    if (lane == 0) atomicAdd(&total[c], sum);
  }
}
