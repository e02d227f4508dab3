// verdict: A1 the table of <3, 0, 3> | failed | "does not have column 1 there"
// verdict: A2 any B, M, S | failed | "offsets 8 and 9 both go to 9"
// verdict: B3 rows of any width | failed | "both go to place"
// verdict: D1 the 128-byte mode | failed | "An H200 puts it somewhere else"
// verdict: D2 the 64- and 32-byte modes | failed | "An H200 puts it somewhere else"
// OR instead of XOR: bits that are set already stay, so two offsets meet.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  constexpr unsigned kY = ((1u << B) - 1) << (M + (S > 0 ? S : 0));
  unsigned y = offset & kY;
  if constexpr (S >= 0) {
    return offset | (y >> S);
  } else {
    return offset | (y << -S);
  }
}
