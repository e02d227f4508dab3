// verdict: B3 swizzled: wavefronts | failed | "take 4 wavefronts where 1 would do"
// XOR with the row's lowest three bits only: eight different orders for 32 rows.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x ^ threadIdx.y % 8] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x % 8];
}
