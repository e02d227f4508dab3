// verdict: B2 padded: result | failed | "writes tile[1024]; the last is tile[1023]"
// verdict: B2 padded: sectors | failed | "counts once the result is right"
// verdict: B2 padded: wavefronts | failed | "counts once nearly all points are reached"
// Rows are 33 words apart in a tile of 32 x 32: the last ones lie in the array that follows it.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * kTile], more[64];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (threadIdx.y < 2) more[32 * threadIdx.y + threadIdx.x] = 0;
  __syncthreads();
  if (x < m && y < n) tile[33 * threadIdx.y + threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[33 * threadIdx.x + threadIdx.y];
  if (n < 0) out[0] = more[m & 63];
}
