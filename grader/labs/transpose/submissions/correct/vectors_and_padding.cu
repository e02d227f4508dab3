// Vectors in global memory, single elements in a padded tile: four times as many requests to shared
// memory as with vectors there, and equally many wavefronts.
LAB32_TILE(transpose_best, .rows = 32, .columns = 32, .threads = 256);
template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T tile[32][33];
  int bx = blockIdx.x * 32, by = blockIdx.y * 32;
  if (n % 4 == 0 && m % 4 == 0) {
    int c = threadIdx.x % 8 * 4, r = threadIdx.x / 8;
    if (bx + c < m && by + r < n) {
      Four<T> v = *reinterpret_cast<const Four<T>*>(&in[(by + r) * m + bx + c]);
      for (int k = 0; k < 4; ++k) tile[r][c + k] = v.v[k];
    }
    __syncthreads();
    if (by + c < n && bx + r < m) {
      Four<T> v;
      for (int k = 0; k < 4; ++k) v.v[k] = tile[c + k][r];
      *reinterpret_cast<Four<T>*>(&out[(bx + r) * n + by + c]) = v;
    }
  } else {
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    for (int j = ty; j < 32; j += 8)
      if (bx + tx < m && by + j < n) tile[j][tx] = in[(by + j) * m + bx + tx];
    __syncthreads();
    for (int j = ty; j < 32; j += 8)
      if (by + tx < n && bx + j < m) out[(bx + j) * n + by + tx] = tile[tx][j];
  }
}
