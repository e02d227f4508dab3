// verdict: B3 reduce_shuffle: result | failed | "does not take part"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// The mask is right, and five steps are too many: lane 0 reads lane 16, which nobody has asked to
// come.
__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize, warps = blockDim.x / kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = (i < n ? in[i] : 0) + (i + int(blockDim.x) < n ? in[i + blockDim.x] : 0);
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t >= warps) return;
  unsigned mask = kAll >> (kWarpSize - warps);
  sum = sums[t];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(mask, sum, step);
  if (t == 0) out[blockIdx.x] = sum;
}
