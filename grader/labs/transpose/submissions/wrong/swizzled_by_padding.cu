// verdict: B3 swizzled: wavefronts | failed | "declares 4,224 bytes of shared memory"
// Padding under the name of a swizzle.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
