// verdict: A2 any B, M, S | failed | "It seems to shift all bits of the offset"
// verdict: B3 rows of any width | failed | "is split or misaligned"
// verdict: D1 the 128-byte mode | failed | "An H200 puts it somewhere else"
// verdict: D2 the 64- and 32-byte modes | failed | "An H200 puts it somewhere else"
// The offset is shifted as a whole: right for the table of 64 entries, and nowhere else.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  if constexpr (S >= 0) {
    return offset ^ (offset >> S);
  } else {
    return offset ^ (offset << -S);
  }
}
