// verdict: A3 applied to add1 ... add5 | failed | "lanes in another order"
// verdict: A2 sectors | failed | "It seems to count inactive lanes, too"
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    bool first = true;
    for (int lower = 0; lower < lane; ++lower) {
      if (address[lower] / 32 == address[lane] / 32) first = false;
    }
    count += first;
  }
  return count;
}
