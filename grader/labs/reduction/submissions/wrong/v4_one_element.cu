// verdict: v4: result | failed | "was expected"
// verdict: v4: idle lanes | failed | "counts once the result is right"
// v3 in v4's place: with half the blocks it leaves out half of the elements.
__global__ void reduce_v4(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x;
  sums[t] = in[2 * blockIdx.x * blockDim.x + t];
  __syncthreads();
  halve(sums, 1);
  if (t == 0) out[blockIdx.x] = sums[0];
}
