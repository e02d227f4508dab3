// A list of ints, of which only written elements are used: nvcc loads two at once before it tests
// the condition, and discards the second. The list has the lowest lane of each sector.
__device__ int sectors(const unsigned long long address[32], int bytes, unsigned active) {
  int seen[32], count = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(active >> lane & 1)) continue;
    int lowest = 0, k = 0;
    while (!(active >> lowest & 1) || address[lowest] / 32 != address[lane] / 32) ++lowest;
    while (k < count && seen[k] != lowest) ++k;
    if (k == count) seen[count++] = lowest;
  }
  return count;
}
