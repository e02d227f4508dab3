// verdict: B3 reduce_shuffle: result | failed | "not take part"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// The last step's mask names lanes that have gone another way, and lane 7 reads lane 8.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t < warps) {
    sum = warp_reduce_sum(sums[t]);
    if (t == 0) out[blockIdx.x] = sum;
  }
}
