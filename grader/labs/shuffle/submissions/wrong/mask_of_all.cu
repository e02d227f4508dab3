// verdict: B2 warp_reduce_sum: result | failed | "names lane 16, which never reaches this operation"
// verdict: B2 warp_reduce_sum: shared | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: result | failed | "(called on line "
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// verdict: C1 sum_by_warps: result | failed | "lane"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// verdict: C2 sum_by_blocks: result | failed | "lane"
// verdict: C2 sum_by_blocks: adds | failed | "counts once the result is right"
// Lanes that have done their part stay away, and the mask still names them.
template <class T>
__device__ T warp_reduce_sum(T v) {
  for (int step = 16; step > 0; step /= 2)
    if (threadIdx.x % kWarpSize < step) v += __shfl_down_sync(kAll, v, step);
  return v;
}
