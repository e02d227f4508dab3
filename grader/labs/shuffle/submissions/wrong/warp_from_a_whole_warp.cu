// verdict: B2 warp_reduce_sum: result | failed | "shuffles by 32 lanes, but a warp has only 32"
// verdict: B2 warp_reduce_sum: shared | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: result | failed | "shuffles by 32 lanes"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// verdict: C1 sum_by_warps: result | failed | "shuffles by 32 lanes"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// verdict: C2 sum_by_blocks: result | failed | "shuffles by 32 lanes"
// verdict: C2 sum_by_blocks: adds | failed | "counts once the result is right"
// Begins with a step of all lanes, where each gets its own value once more.
template <class T>
__device__ T warp_reduce_sum(T v) {
  for (int step = kWarpSize; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  return v;
}
