// verdict: B2 warp_reduce_sum: result | failed | "does not name its own lane 16"
// verdict: B2 warp_reduce_sum: shared | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: result | failed | "does not"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// verdict: C1 sum_by_warps: result | failed | "does not"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// verdict: C2 sum_by_blocks: result | failed | "does not"
// verdict: C2 sum_by_blocks: adds | failed | "counts once the result is right"
// After the first step lanes 16 to 31 have done their part: so their bits are left out of the mask,
// and they execute the shuffle all the same.
template <class T>
__device__ T warp_reduce_sum(T v) {
  v += __shfl_down_sync(kAll, v, 16);
  for (int step = 8; step > 0; step /= 2) v += __shfl_down_sync(0x0000ffff, v, step);
  return v;
}
