// verdict: v3: result | failed | "race on sums"
// verdict: v3: wavefronts | failed | "counts once the result is right"
// No barrier once one warp is left: right as long as its lanes keep in step, and they need not.
__global__ void reduce_v3(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    if (distance > 32) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
