// verdict: B1 reduce_shared: wavefronts | failed | "accesses that change nothing it takes"
// B3 in B1's place, and four stores a warp to shared memory that nobody reads.
__global__ void reduce_shared(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  __shared__ int busy[kBlock];
  int t = threadIdx.x, lane = t % kWarpSize;
  int i = blockIdx.x * 2 * kBlock + t;
  volatile int* own = busy + t;
#pragma unroll
  for (int k = 0; k < 4; ++k) *own = k;
  float sum = (i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t >= kWarpSize) return;
  sum = lane < kBlock / kWarpSize ? sums[lane] : 0;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(kAll, sum, step);
  if (t == 0) out[blockIdx.x] = sum;
}
