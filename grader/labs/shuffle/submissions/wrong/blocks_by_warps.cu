// verdict: C2 sum_by_blocks: adds | failed | "adds, where"
// C1's kernel in C2's place.
__global__ void sum_by_blocks(const float* in, float* total, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  float sum = warp_reduce_sum(i < n ? in[i] : 0);
  if (threadIdx.x % kWarpSize == 0) atomicAdd(total, sum);
}
