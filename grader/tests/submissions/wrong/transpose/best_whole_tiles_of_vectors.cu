// verdict: B4 best: result | failed | "out of bounds"
// verdict: B4 best: sectors | failed | "Counts once the result is right"
// verdict: B4 best: requests | failed | "see `B4 best: sectors`"
// verdict: B4 best: wavefronts | failed | "see `B4 best: sectors`"
// Where vectors fit the rows, tiles are taken to fit the matrix: not so for 36 x 100.
template <class T>
__device__ void turn_by_vectors(Four<T> (*tile)[kVectors], const T* in, T* out, int n, int m) {
  int first_x = blockIdx.x * kBestTile, first_y = blockIdx.y * kBestTile;
  int i = threadIdx.x % kVectors, j = threadIdx.x / kVectors;
  int x = first_x + 4 * i, y = first_y + 4 * j;
  if (n == 0) return;
  Four<T> row[4];
  for (int k = 0; k < 4; ++k) row[k] = *reinterpret_cast<const Four<T>*>(in + (y + k) * m + x);
  for (int k = 0; k < 4; ++k)
    tile[4 * i + k][j ^ i] = {row[0].v[k], row[1].v[k], row[2].v[k], row[3].v[k]};
  __syncthreads();
  x = first_y + 4 * i, y = first_x + 4 * j;
  for (int k = 0; k < 4; ++k)
    *reinterpret_cast<Four<T>*>(out + (y + k) * n + x) = tile[4 * j + k][i ^ j];
}
