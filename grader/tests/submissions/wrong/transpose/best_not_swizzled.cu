// verdict: B4 best: wavefronts | failed | "wavefronts where"
// The vectors of a column lie in the same banks.
template <class T>
__device__ void turn_by_vectors(Four<T> (*tile)[kVectors], const T* in, T* out, int n, int m) {
  int first_x = blockIdx.x * kBestTile, first_y = blockIdx.y * kBestTile;
  int i = threadIdx.x % kVectors, j = threadIdx.x / kVectors;
  int x = first_x + 4 * i, y = first_y + 4 * j;
  if (x < m && y < n) {
    Four<T> row[4];
    for (int k = 0; k < 4; ++k) row[k] = *reinterpret_cast<const Four<T>*>(in + (y + k) * m + x);
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][j] = {row[0].v[k], row[1].v[k], row[2].v[k], row[3].v[k]};
  }
  __syncthreads();
  x = first_y + 4 * i, y = first_x + 4 * j;
  if (x < n && y < m) {
    for (int k = 0; k < 4; ++k)
      *reinterpret_cast<Four<T>*>(out + (y + k) * n + x) = tile[4 * j + k][i];
  }
}
