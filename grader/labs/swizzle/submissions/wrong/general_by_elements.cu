// verdict: B3 rows of any width | failed | "is split or misaligned"
// The element's number is swizzled instead of its byte: chunks of shorts are torn.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  return swizzle<3, 2, 3>(y * nx + x);
}
