// verdict: B1 chunks of 16 bytes | failed | "the i16 of the element in row 0, column 8 is not 0"
// Chunks of 16 elements instead of 16 bytes: right for chars.
template <class T>
__device__ Chunk chunk_of(int y, int x, int nx) {
  Chunk c;
  c.i16 = (y * nx + x) / 16;
  c.y16 = c.i16 / 8;
  c.x16 = c.i16 % 8;
  c.swz_y16 = c.y16;
  c.swz_x16 = c.y16 % 8 ^ c.x16;
  return c;
}
