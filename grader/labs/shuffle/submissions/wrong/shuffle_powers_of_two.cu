// verdict: B3 reduce_shuffle: result | failed | "n = 1000, block = 96"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// Halves the number of warps at each step: three warps are 1, and the third is forgotten.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warp = t / kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < warps ? sums[lane] : 0;
    for (int step = warps / 2; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
    if (lane == 0) out[blockIdx.x] = sum;
  }
}
