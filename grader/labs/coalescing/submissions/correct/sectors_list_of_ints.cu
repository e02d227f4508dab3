// A list of ints, of which no more is read than was written: nvcc reads two at once, ahead of the
// condition, and throws away what it should not have. Listed is the lowest lane of each sector.
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
