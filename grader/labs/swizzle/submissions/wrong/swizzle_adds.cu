// verdict: A1 the table of <3, 0, 3> | failed | "Offset 9 is row 1, column 1"
// verdict: A2 any B, M, S | failed | "It seems to add"
// verdict: B3 rows of any width | failed | "both go to place"
// verdict: D1 the 128-byte mode | failed | "An H200 puts it somewhere else"
// verdict: D2 the 64- and 32-byte modes | failed | "An H200 puts it somewhere else"
// A sum instead of the XOR: it carries out of the column.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  constexpr unsigned kY = ((1u << B) - 1) << (M + (S > 0 ? S : 0));
  unsigned y = offset & kY;
  if constexpr (S >= 0) {
    return offset + (y >> S);
  } else {
    return offset + (y << -S);
  }
}
