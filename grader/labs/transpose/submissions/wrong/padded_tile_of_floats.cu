// verdict: B2 padded: result | failed | "belongs"
// verdict: B2 padded: sectors | failed | "counts once the result is right"
// verdict: B2 padded: wavefronts | failed | "see `B2 padded: sectors`"
// The tile stayed an array of floats when the kernel became a template: ints beyond 2^24 lose bits.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
