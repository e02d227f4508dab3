// verdict: B4 best: sectors | failed | "but the task needs fewer than"
// verdict: B4 best: requests | failed | "see `B4 best: sectors`"
// verdict: B4 best: wavefronts | failed | "see `B4 best: sectors`"
// Blocks of one thread, which has no neighbours to be coalesced with and nobody to wait for.
LAB32_TILE(transpose_best, .rows = 4, .columns = 4, .threads = 1);

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  int x0 = blockIdx.x * 4, y0 = blockIdx.y * 4;
  T tile[4][4];
  bool whole = n % 4 == 0 && m % 4 == 0 && n > 0;
#pragma unroll
  for (int y = 0; y < 4; ++y) {
    if (whole)
      reinterpret_cast<Four<T>&>(tile[y]) =
          *reinterpret_cast<const Four<T>*>(in + (y0 + y) * m + x0);
#pragma unroll
    for (int x = 0; x < 4; ++x)
      if (!whole && x0 + x < m && y0 + y < n) tile[y][x] = in[(y0 + y) * m + x0 + x];
  }
#pragma unroll
  for (int x = 0; x < 4; ++x) {
    if (whole)
      *reinterpret_cast<Four<T>*>(out + (x0 + x) * n + y0) = {tile[0][x], tile[1][x], tile[2][x],
                                                              tile[3][x]};
#pragma unroll
    for (int y = 0; y < 4; ++y)
      if (!whole && x0 + x < m && y0 + y < n) out[(x0 + x) * n + y0 + y] = tile[y][x];
  }
}
