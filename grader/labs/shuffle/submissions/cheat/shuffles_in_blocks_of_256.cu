// verdict: B3 reduce_shuffle: wavefronts | failed | "block = 1024: the kernel takes"
// verdict: B3 reduce_shuffle: barriers | failed | "block = 1024: the kernel takes"
// Shuffles in the blocks whose wavefronts are published; in all others the tree of B1.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[1024];
  int t = threadIdx.x, lane = t % kWarpSize, threads = blockDim.x;
  int i = blockIdx.x * 2 * threads + t;
  float sum = (i < n ? in[i] : 0) + (i + threads < n ? in[i + threads] : 0);
  if (threads != kBlock) {
    sums[t] = sum;
    __syncthreads();
    for (int left = threads; left > 1; left = (left + 1) / 2) {
      if (t < left / 2) sums[t] += sums[t + (left + 1) / 2];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
    return;
  }
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t >= kWarpSize) return;
  sum = warp_reduce_sum(lane < threads / kWarpSize ? sums[lane] : 0);
  if (lane == 0) out[blockIdx.x] = sum;
}
