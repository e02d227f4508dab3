// verdict: B2 padded: sectors | failed | "of"
// verdict: B2 padded: wavefronts | failed | "counts once nearly all points are reached"
// No tile: no wavefront, and no points for that.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) out[x * n + y] = in[y * m + x];
}
