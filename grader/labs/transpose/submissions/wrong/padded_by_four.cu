// verdict: B2 padded: wavefronts | failed | "declares 4,608 bytes of shared memory"
// half right
// A pad of four words, "to keep the rows aligned": too large, and still a 4-way conflict.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 4];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}
