// verdict: D1 the 128-byte mode | failed | "Your function is right for this box at base 0"
// verdict: D2 the 64- and 32-byte modes | failed | "Your function is right for this box at base 0"
// The offset in the box instead of the address: right where the base is a multiple of 1024.
__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  unsigned offset = y * mode + x * element_bytes;
  if (mode == 128) return base + swizzle<3, 4, 3>(offset);
  if (mode == 64) return base + swizzle<2, 4, 3>(offset);
  return base + swizzle<1, 4, 3>(offset);
}
