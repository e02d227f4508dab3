// verdict: B1 reduce_shared: wavefronts | failed | "take"
// half right
// Strides that grow: right, with bank conflicts.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * kBlock + t;
  sums[t] = (i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0);
  __syncthreads();
  for (int step = 1; step < kBlock; step *= 2) {
    int at = 2 * step * t;
    if (at < kBlock) sums[at] += sums[at + step];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
