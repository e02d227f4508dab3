// verdict: A3 applied to add1 ... add5 | failed | "lanes in another order"
// verdict: A2 sectors | failed | "a later lane may access a sector again"
// Right wherever addresses ascend.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  unsigned long long last = ~0ull;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!(active >> lane & 1)) continue;
    count += address[lane] / 32 != last;
    last = address[lane] / 32;
  }
  return count;
}
