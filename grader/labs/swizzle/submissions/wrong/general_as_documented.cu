// verdict: B3 rows of any width | failed | "both go to place"
// The document's formulas for rows of every width: in rows of 64 bytes elements meet.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  Place p = documented_place<T>(y, x, nx);
  return p.y * nx + p.x;
}
