// verdict: B1 reduce_shared: result | failed | "race"
// verdict: B1 reduce_shared: wavefronts | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// The last warp without barriers of the block: a __syncwarp() after each step, none inside it.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * kBlock + t;
  sums[t] = (i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0);
  __syncthreads();
  for (int step = kBlock / 2; step > 16; step /= 2) {
    if (t < step) sums[t] += sums[t + step];
    __syncthreads();
  }
  if (t < 32) {
    for (int step = 16; step > 0; step /= 2) {
      sums[t] += sums[t + step];
      __syncwarp();
    }
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
