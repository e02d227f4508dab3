// verdict: C3 sum_by_key: result | failed | "totals["
// verdict: C3 sum_by_key: adds | failed | "counts once the result is right"
// As if all values of a group were its first lane's.
__global__ void sum_by_key(const int* key, const float* value, float* totals, int n) {
  int i = blockIdx.x * kBlock + threadIdx.x;
  int mine = i < n ? key[i] : -1;
  unsigned peers = __match_any_sync(kAll, mine);
  if (i < n && int(threadIdx.x % kWarpSize) == __ffs(peers) - 1)
    atomicAdd(&totals[mine], value[i] * __popc(peers));
}
