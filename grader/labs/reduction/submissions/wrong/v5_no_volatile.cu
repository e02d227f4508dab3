// verdict: v5: result | failed | "race on sums"
// verdict: v5: barriers | failed | "counts once the result is right"
// Without volatile the compiler keeps a lane's sums in a register: no other lane sees them.
__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 64);
  if (t < 32) {
    sums[t] += sums[t + 32];
    sums[t] += sums[t + 16];
    sums[t] += sums[t + 8];
    sums[t] += sums[t + 4];
    sums[t] += sums[t + 2];
    sums[t] += sums[t + 1];
  }
  if (t == 0) out[blockIdx.x] = sums[0];
}
