// verdict: B2 warp_reduce_sum: result | failed | "was expected"
// verdict: B2 warp_reduce_sum: shared | failed | "counts once"
// verdict: B3 reduce_shuffle: result | failed | "where"
// verdict: B3 reduce_shuffle: wavefronts | failed | "counts once the result is right"
// verdict: B3 reduce_shuffle: barriers | failed | "counts once the result is right"
// verdict: B4 a sum of 2^24 ones | failed | "counts once the result is right"
// verdict: C1 sum_by_warps: result | failed | "where"
// verdict: C1 sum_by_warps: adds | failed | "counts once the result is right"
// verdict: C2 sum_by_blocks: result | failed | "where"
// verdict: C2 sum_by_blocks: adds | failed | "counts once the result is right"
// The function is as the skeleton has it; the given kernel that tests it is made to add by itself.
template <class T>
__device__ T warp_reduce_sum(T v) {
  return v;
}

template <class T>
__global__ void warp_sums(const T* in, T* out, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n || i % kWarpSize != 0) return;
  T sum = 0;
  for (int k = i; k < n && k < i + kWarpSize; ++k) sum += in[k];
  out[i / kWarpSize] = sum;
}
