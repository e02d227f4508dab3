// verdict: C1 sum_by_warps: result | failed | "race on total"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// Every warp adds its sum without an atomic.
__global__ void sum_by_warps(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) *total += sum;
}
