// verdict: B3 swizzled: result | failed | "belongs"
// verdict: B3 swizzled: sectors | failed | "counts once the result is right"
// verdict: B3 swizzled: wavefronts | failed | "see `B3 swizzled: sectors`"
// half right
// Stored in the new order, read in the old one.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = x < m && y < n ? in[y * m + x] : T(0);
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
