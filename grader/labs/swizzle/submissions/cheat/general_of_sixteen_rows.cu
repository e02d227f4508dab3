// verdict: B3 rows of any width | failed | "both go to place"
// Right for the 16 rows that every tile has had so far: row 16 lands where row 0 is.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  return swizzle<3, 4, 3>((y % 16 * nx + x) * int(sizeof(T))) / sizeof(T);
}
