// All lanes get the sum: butterflies instead of trees, every warp reads the warps' sums; for keys a
// loop over each group with the group's own mask.
template <class T>
__device__ T warp_reduce_sum(T v) {
  for (int step = 1; step < kWarpSize; step *= 2) v += __shfl_xor_sync(kAll, v, step);
  return v;
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float sums[kWarpSize];
  int t = threadIdx.x, lane = t % kWarpSize;
  int i = blockIdx.x * 2 * blockDim.x + t;
  float sum = i < n ? in[i] : 0;
  i += blockDim.x;
  if (i < n) sum += in[i];
  sum = warp_reduce_sum(sum);
  if (lane == 0) sums[t / kWarpSize] = sum;
  __syncthreads();
  if (t >= kWarpSize) return;
  unsigned there = __ballot_sync(kAll, lane < int(blockDim.x) / kWarpSize);
  sum = warp_reduce_sum(there >> lane & 1 ? sums[lane] : 0);
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int lane = threadIdx.x % kWarpSize;
  unsigned active = __ballot_sync(kAll, i < n);
  if (i >= n) return;
  int mine = key[i];
  float v = value[i], sum = 0;
  unsigned peers = __match_any_sync(active, mine);
  for (unsigned rest = peers; rest != 0; rest &= rest - 1)
    sum += __shfl_sync(peers, v, __ffs(rest) - 1);
  if (lane == __ffs(peers) - 1) atomicAdd(&totals[mine], sum);
}
