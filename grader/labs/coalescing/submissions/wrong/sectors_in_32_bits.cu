// verdict: A2 sectors | failed | "which is wrong"
// The number of the sector in 32 bits: addresses that differ in bit 40 only are taken for one.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    bool first = active >> lane & 1;
    unsigned sector = address[lane] / 32;
    for (int lower = 0; lower < lane; ++lower) {
      if ((active >> lower & 1) && unsigned(address[lower] / 32) == sector) first = false;
    }
    count += first;
  }
  return count;
}
