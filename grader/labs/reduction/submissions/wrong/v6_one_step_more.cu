// verdict: v6: result | failed | "out of bounds"
// verdict: v6: instructions | failed | "counts once the result is right"
// The first distance is the block's size and not half of it: a step too many, behind the array.
template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * kThreads + t;
  sums[t] = in[i] + in[i + kThreads];
  __syncthreads();
#pragma unroll
  for (unsigned distance = kThreads; distance > 32; distance /= 2) {
    if (t < distance) sums[t] += sums[t + distance];
    __syncthreads();
  }
  if (t >= 32) return;
  int sum = warp_sum(sums[t] + sums[t + 32]);
  if (t == 0) out[blockIdx.x] = sum;
}
