// verdict: B3 reduce_shuffle: wavefronts | failed | "of a block's threads: a block that lacks the others"
// verdict: B3 reduce_shuffle: barriers | failed | "of a block's threads: a block that lacks the others"
// verdict: C1 sum_by_warps: adds | failed | "of a block's threads: a block that lacks the others"
// verdict: C2 sum_by_blocks: adds | failed | "of a block's threads: a block that lacks the others"
// One warp of a block adds all its elements, without shared memory or a barrier; the other warps
// are busy with nothing as long.
__device__ float sum_of_block(const float* in, int first, int count, int n) {
  float sum = 0;
  int lane = threadIdx.x % kWarpSize, end = min(n, first + count);
  if (threadIdx.x < kWarpSize) {
#pragma unroll 1
    for (int i = first + lane; i < end; i += kWarpSize) sum += in[i];
    return warp_reduce_sum(sum);
  }
#pragma unroll 1
  for (int i = first + lane; i < end; i += kWarpSize)
    for (int k = 0; k < 4; ++k) asm volatile("add.f32 %0, %0, 0f3F800000;" : "+f"(sum));
  return sum;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  int count = 2 * blockDim.x;
  float sum = sum_of_block(in, blockIdx.x * count, count, n);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

__global__ void sum_by_warps(const float* in, float* total, int n) {
  float sum = sum_of_block(in, blockIdx.x * kBlock, kBlock, n);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

__global__ void sum_by_blocks(const float* in, float* total, int n) {
  float sum = sum_of_block(in, blockIdx.x * kBlock, kBlock, n);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}
