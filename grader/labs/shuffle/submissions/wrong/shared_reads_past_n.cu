// verdict: B1 reduce_shared: result | failed | "reads in[256]; the last is in[0]"
// verdict: B1 reduce_shared: wavefronts | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// Compares only the first of two indices with n. `out` is closer to the address than `in`.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kBlock];
  int t = threadIdx.x;
  int i = blockIdx.x * 2 * kBlock + t;
  sums[t] = i < n ? in[i] + in[i + kBlock] : 0;
  __syncthreads();
  for (int d = kBlock / 2; d > 0; d /= 2) {
    if (t < d) sums[t] += sums[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
