// verdict: v2: result | failed | "and no __syncthreads() lies between"
// verdict: v2: divergence | failed | "counts once the result is right"
// No barrier behind the load: right wherever warps happen to keep pace.
__global__ void reduce_v2(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[blockIdx.x * blockDim.x + t];
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    unsigned i = 2 * distance * t;
    if (i < blockDim.x) sums[i] += sums[i + distance];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
