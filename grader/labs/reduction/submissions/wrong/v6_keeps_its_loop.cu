// verdict: v6: instructions | failed | "of the instructions are on this line"
// v5 as a template: the size of the block is known, and not used.
template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 64);
  if (t >= 32) return;
  int sum = warp_sum(sums[t] + sums[t + 32]);
  if (t == 0) out[blockIdx.x] = sum;
}
