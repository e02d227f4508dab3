// verdict: B1 tiled: partial tiles | failed | "lanes beyond its edge access elements"
// Lanes beyond the edge load the last row or column again.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (n * m == 0) return;
  tile[threadIdx.y][threadIdx.x] = in[min(y, n - 1) * m + min(x, m - 1)];
  __syncthreads();
  int ox = blockIdx.y * kTile + threadIdx.x, oy = blockIdx.x * kTile + threadIdx.y;
  if (ox < n && oy < m) out[oy * n + ox] = tile[threadIdx.x][threadIdx.y];
}
