// verdict: C3 sum_by_key: adds | failed | "adds, where"
// Aggregates where the whole warp has one key, and goes lane by lane where it has not.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int mine = i < n ? key[i] : -1;
  float v = i < n ? value[i] : 0;
  int alike;
  __match_all_sync(kAll, mine, &alike);
  if (alike) v = warp_reduce_sum(v);
  if (i < n && (!alike || threadIdx.x % kWarpSize == 0)) atomicAdd(&totals[mine], v);
}
