// verdict: B1 reduce_shared: wavefronts | failed | "this is another version"
// B3 in B1's place: no tree in shared memory, so there is nothing to compare B3 with.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize;
  int i = blockIdx.x * 2 * kBlock + t;
  float sum = (i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t >= kWarpSize) return;
  sum = lane < kBlock / kWarpSize ? sums[lane] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (t == 0) out[blockIdx.x] = sum;
}
