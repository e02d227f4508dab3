// verdict: B4 best: result | failed | "out of bounds"
// verdict: B4 best: sectors | failed | "counts once the result is right"
// verdict: B4 best: requests | failed | "see `B4 best: sectors`"
// verdict: B4 best: wavefronts | failed | "see `B4 best: sectors`"
// Where vectors fit the rows, tiles are taken to fit the matrix: not so for 36 x 100.
template <class T>
__device__ void turn_by_vectors(Four<T> (*tile)[kDown], const T* in, T* out, int n, int m,
                                int2 first) {
  if (n == 0) return;
  Four<T> row[kSquares][4];
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kAcross, j = square / kAcross;
    int x = first.x + 4 * i, y = first.y + 4 * j;
    for (int k = 0; k < 4; ++k)
      row[s][k] = *reinterpret_cast<const Four<T>*>(in + (y + k) * m + x);
  }
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kAcross, j = square / kAcross;
    const Four<T>* r = row[s];
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][j ^ i] = {r[0].v[k], r[1].v[k], r[2].v[k], r[3].v[k]};
  }
  __syncthreads();
  for (int s = 0; s < kSquares; ++s) {
    int square = threadIdx.x + s * kBestThreads, i = square % kDown, j = square / kDown;
    int x = first.y + 4 * i, y = first.x + 4 * j;
    for (int k = 0; k < 4; ++k)
      *reinterpret_cast<Four<T>*>(out + (y + k) * n + x) = tile[4 * j + k][i ^ j];
  }
}
