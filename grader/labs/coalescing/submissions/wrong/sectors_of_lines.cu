// verdict: A2 sectors | failed | "It seems to count lines of 128 bytes"
// verdict: A3 applied to add1 ... add5 | failed | "add1"
// half right
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    bool first = active >> lane & 1;
    for (int lower = 0; lower < lane; ++lower) {
      if ((active >> lower & 1) && address[lower] / 128 == address[lane] / 128) first = false;
    }
    count += first;
  }
  return count;
}
