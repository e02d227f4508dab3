// verdict: B3 swizzled: result | failed | "64 x 96 ints: out[1] is"
// verdict: B3 swizzled: sectors | failed | "counts once the result is right"
// verdict: B3 swizzled: wavefronts | failed | "see `B3 swizzled: sectors`"
// Stored in the new order, read in the old one, and only what the matrix has: a partial tile would
// be read where nothing was written. Whole tiles come first, and show what is wrong.
template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
