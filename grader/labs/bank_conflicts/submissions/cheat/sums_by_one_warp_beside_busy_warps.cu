// verdict: B3 block_sums: wavefronts | failed | "of a block's threads: a block that lacks the others"
// One warp of the block adds all 256 elements; the others are busy with nothing as long.
__global__ void block_sums(const int* in, int* out, int n) {
  int lane = threadIdx.x % 32, sum = 0;
  int first = kBlock * blockIdx.x, end = min(n, first + kBlock);
#pragma unroll 1
  for (int i = first + lane; i < end; i += 32) {
    if (threadIdx.x < 32)
      sum += in[i];
    else
      for (int k = 0; k < 4; ++k) asm volatile("add.s32 %0, %0, 1;" : "+r"(sum));
  }
  sum = __reduce_add_sync(0xffffffff, sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
