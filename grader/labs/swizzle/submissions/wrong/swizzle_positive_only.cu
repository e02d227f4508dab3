// verdict: A2 any B, M, S | failed | "It seems to treat a negative S as a positive one"
// A negative S is taken for a positive one.
template <int B, int M, int S>
__device__ unsigned swizzle(unsigned offset) {
  constexpr int kShift = S < 0 ? -S : S;
  constexpr unsigned kY = ((1u << B) - 1) << (M + kShift);
  return offset ^ ((offset & kY) >> kShift);
}
