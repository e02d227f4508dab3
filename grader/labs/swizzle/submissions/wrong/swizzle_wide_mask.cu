// verdict: A2 any B, M, S | failed | "which is wrong"
// verdict: D2 the 64- and 32-byte modes | failed | "An H200 puts it somewhere else"
// One bit too many in the mask: (2 << B) - 1.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  constexpr int kY = M + (S > 0 ? S : 0), kZ = M - (S < 0 ? S : 0);
  if (B == 3) return offset ^ (offset >> kY & 7u) << kZ;
  return offset ^ (offset >> kY & (2u << B) - 1) << kZ;
}
