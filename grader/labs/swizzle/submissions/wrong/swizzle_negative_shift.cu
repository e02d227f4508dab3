// verdict: A2 any B, M, S | failed | "The compiler warns of line 11: shift count is negative"
// A shift by a negative S to the right is no shift to the left.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  unsigned y = ((1u << B) - 1) << (M + (S > 0 ? S : 0));
  return offset ^ ((offset & y) >> S);
}
