// Lanes without a key leave before the warp operations, whose masks name them: these wait for lanes
// that have not exited.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int lane = threadIdx.x % kWarpSize;
  if (i >= n) return;
  int mine = key[i];
  float sum = i < n ? value[i] : 0;
  unsigned peers = __match_any_sync(kAll, mine);
  int next = __ffs(peers & (0xfffffffeu << lane)) - 1;  // -1: none
  while (__any_sync(kAll, next >= 0)) {
    float more = __shfl_sync(kAll, sum, next < 0 ? lane : next);
    int after = __shfl_sync(kAll, next, next < 0 ? lane : next);
    if (next >= 0) {
      sum += more;
      next = after;
    }
  }
  if (mine >= 0 && lane == __ffs(peers) - 1) atomicAdd(&totals[mine], sum);
}
