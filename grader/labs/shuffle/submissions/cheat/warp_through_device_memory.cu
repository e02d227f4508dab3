// verdict: B2 warp_reduce_sum: shared | failed | "sectors, where"
// No shuffle: lanes leave their values in an array in device memory, and lane 0 adds them up.
template <class T>
__device__ volatile T left[1 << 22];

template <class T>
__device__ T warp_reduce_sum(T v) {
  int at = blockIdx.x * blockDim.x + threadIdx.x, first = at - at % kWarpSize;
  left<T>[at] = v;
  __syncwarp();
  if (at == first)
    for (int l = 1; l < kWarpSize; ++l) v += left<T>[first + l];
  __syncwarp();
  return v;
}

// These keep their shuffles.
__device__ float shuffled(float v) {
  for (int step = kWarpSize / 2; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  return v;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warp = t / kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  sum = shuffled(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = shuffled(lane < warps ? sums[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}

__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = shuffled(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(total, sum);
}

__global__ void sum_by_blocks(const float* in, float* total, int n) {
  __shared__ float sums[kBlock / kWarpSize];
  int t = threadIdx.x;
  int i = blockIdx.x * kBlock + t;
  float sum = shuffled(i < n ? in[i] : 0);
  if (t % kWarpSize == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t < kWarpSize) {
    sum = shuffled(t < kBlock / kWarpSize ? sums[t] : 0);
    if (t == 0) atomicAdd(total, sum);
  }
}
