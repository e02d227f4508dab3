// verdict: B1 chunks of 16 bytes | failed | "the swz_x16 of the element in row 8, column 0 is not 8"
// The document to the letter: y16 ^ x16, without the modulus. Fits 8 rows, and here are 16.
template <class T>
__device__ Chunk chunk_of(int y, int x, int nx) {
  Chunk c;
  c.i16 = (y * nx + x) * int(sizeof(T)) / 16;
  c.y16 = c.i16 / 8;
  c.x16 = c.i16 % 8;
  c.swz_y16 = c.y16;
  c.swz_x16 = c.y16 ^ c.x16;
  return c;
}
