// verdict: B3 rows of any width | failed | "in the same four banks"
// half right
// XOR by the row instead of the line: in rows of 64 bytes two rows lie in one line already, and
// only two bits are left to tell rows apart.
template <class T>
__device__ int general_place(int y, int x, int nx) {
  constexpr int kEach = 16 / sizeof(T);
  int chunks = nx / kEach, chunk = x / kEach;
  if ((chunks & (chunks - 1)) == 0) chunk ^= y % 8 % chunks;
  return y * nx + chunk * kEach + x % kEach;
}
