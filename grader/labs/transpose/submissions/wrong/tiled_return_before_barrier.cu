// verdict: B1 tiled: result | failed | "was not written"
// verdict: B1 tiled: sectors | failed | "counts once the result is right"
// verdict: B1 tiled: partial tiles | failed | "counts once the result is right"
// At the edge the threads that have nothing to read are missing when there is something to write.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x >= m || y >= n) return;
  tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
