// verdict: B1 tiled: sectors | failed | "loads of 4 bytes touch 32 sectors where 4 would do"
// verdict: B1 tiled: partial tiles | failed | "Which lanes of a partial tile"
// The lanes run down the columns of `in`: now it is the loads that scatter.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.y;
  int y = blockIdx.y * kTile + threadIdx.x;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}
