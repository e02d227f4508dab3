// verdict: B1 chunks of 16 bytes | failed | "the element keeps its place inside"
// The element loses its place inside the chunk.
template <class T>
__device__ Place documented_place(int y, int x, int nx) {
  constexpr int kEach = 16 / sizeof(T);
  Chunk c = chunk_of<T>(y, x, nx);
  return {c.swz_y16, c.swz_x16 * kEach % nx};
}
