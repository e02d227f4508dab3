// verdict: D2 the 64- and 32-byte modes | failed | "An H200 puts it somewhere else"
// The 128-byte mode's three bits for all modes.
__device__ int landing(int mode, int base, int y, int x, int element_bytes) {
  return swizzle<3, 4, 3>(base + y * mode + x * element_bytes);
}
