// verdict: B2 warp_reduce_sum: result | failed | "where"
// verdict: B2 warp_reduce_sum: shared | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: result | failed | "was expected"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// verdict: C1 sum_by_warps: result | failed | "was expected"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// verdict: C2 sum_by_blocks: result | failed | "was expected"
// verdict: C2 sum_by_blocks: adds | failed | "counts once the result is right"
// Begins with 8: lanes 0 to 15 only.
template <class T>
__device__ T warp_reduce_sum(T v) {
  for (int step = 8; step > 0; step /= 2) v += __shfl_down_sync(kAll, v, step);
  return v;
}
