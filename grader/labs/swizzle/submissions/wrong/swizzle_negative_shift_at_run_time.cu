// verdict: A2 any B, M, S | failed | "shifts by -3, but C++ defines shifts by 0 to 31 only"
// A shift by a negative S to the right is no shift to the left; here no compiler sees it.
__device__ int as_it_is(int s) {
  volatile int kept = s;
  return kept;
}

template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  unsigned y = ((1u << B) - 1) << (M + (S > 0 ? S : 0));
  return offset ^ ((offset & y) >> as_it_is(S));
}
