// verdict: B3 reduce_shuffle: result | failed | "not take part"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// Threads behind the end leave before the shuffle that counts on them.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warp = t / kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  if (lane == 0) sums[warp] = 0;
  __syncthreads();
  if (i >= n && n > 0) return;
  float sum = i < n ? in[i] : 0;
  if (i + int(blockDim.x) < n) sum += in[i + blockDim.x];
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_reduce_sum(lane < warps ? sums[lane] : 0);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
