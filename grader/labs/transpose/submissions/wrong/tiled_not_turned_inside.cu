// verdict: B1 tiled: result | failed | "belongs"
// verdict: B1 tiled: sectors | failed | "counts once the result is right"
// verdict: B1 tiled: partial tiles | failed | "counts once the result is right"
// The tiles change places, their elements do not; at the edge the reads meet what nobody wrote.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = x < m && y < n ? in[y * m + x] : T(0);
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.y][threadIdx.x];
}
