// verdict: B3 block_sums: result | failed | "race"
// verdict: B3 block_sums: wavefronts | failed | "counts once the result is right"
__global__ void block_sums(const int* in, int* out, int n) {
  __shared__ int sum[kBlock];
  int t = threadIdx.x;
  int i = kBlock * blockIdx.x + t;
  sum[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (t < step) sum[t] += sum[t + step];
    if (step > 32) __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sum[0];
}
