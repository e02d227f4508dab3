// verdict: v5: result | failed | "read into a register, __syncwarp(), then write"
// verdict: v5: barriers | failed | "counts once the result is right"
// A synchronised step has two halves: lane 16 may store before lane 0 has loaded.
__device__ void last_warp(int* sums, unsigned t) {
  for (int distance = 32; distance > 0; distance /= 2) {
    sums[t] += sums[t + distance];
    __syncwarp();
  }
}

__global__ void reduce_v5(const int* in, int* out) {
  __shared__ int sums[kMostThreads];
  unsigned t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
  sums[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  halve(sums, 64);
  if (t < 32) last_warp(sums, t);
  if (t == 0) out[blockIdx.x] = sums[0];
}
