// verdict: v6: result | failed | "1 block of 1024"
// verdict: v6: instructions | failed | "counts once the result is right"
// As unrolled when blocks had 512 threads at most.
template <unsigned kThreads>
__global__ void reduce_v6(const int* in, int* out) {
  __shared__ int sums[kThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * kThreads + t;
  sums[t] = in[i] + in[i + kThreads];
  __syncthreads();
  if (kThreads >= 512 && t < 256) sums[t] += sums[t + 256];
  __syncthreads();
  if (kThreads >= 256 && t < 128) sums[t] += sums[t + 128];
  __syncthreads();
  if (kThreads >= 128 && t < 64) sums[t] += sums[t + 64];
  __syncthreads();
  if (t >= 32) return;
  int sum = warp_sum(sums[t] + sums[t + 32]);
  if (t == 0) out[blockIdx.x] = sum;
}
