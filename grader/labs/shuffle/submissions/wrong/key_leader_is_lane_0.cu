// verdict: C3 sum_by_key: result | failed | "where"
// verdict: C3 sum_by_key: adds | failed | "counts once the result is right"
// The sum of each group is formed, and only lane 0's is added.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int mine = i < n ? key[i] : -1;
  float v = i < n ? value[i] : 0, sum = 0;
  unsigned peers = __match_any_sync(kAll, mine);
  for (int l = 0; l < kWarpSize; ++l) {
    float other = __shfl_sync(kAll, v, l);
    if (peers >> l & 1) sum += other;
  }
  if (mine >= 0 && threadIdx.x % kWarpSize == 0) atomicAdd(&totals[mine], sum);
}
