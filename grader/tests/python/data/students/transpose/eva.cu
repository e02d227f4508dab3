template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < m) tile[threadIdx.x][threadIdx.y] = in[i * m + j];
  __syncthreads();
  int ti = blockIdx.x * blockDim.x + threadIdx.y;
  int tj = blockIdx.y * blockDim.y + threadIdx.x;
  if (ti < m && tj < n) out[ti * n + tj] = tile[threadIdx.y][threadIdx.x];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < m) tile[threadIdx.x][threadIdx.y] = in[i * m + j];
  __syncthreads();
  int ti = blockIdx.x * blockDim.x + threadIdx.y;
  int tj = blockIdx.y * blockDim.y + threadIdx.x;
  if (ti < m && tj < n) out[ti * n + tj] = tile[threadIdx.y][threadIdx.x];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < m) tile[threadIdx.x][threadIdx.y ^ threadIdx.x] = in[i * m + j];
  __syncthreads();
  int ti = blockIdx.x * blockDim.x + threadIdx.y;
  int tj = blockIdx.y * blockDim.y + threadIdx.x;
  if (ti < m && tj < n) out[ti * n + tj] = tile[threadIdx.y][threadIdx.x ^ threadIdx.y];
}

LAB32_TILE(transpose_best, .rows = 32, .columns = 32, .threads = 256);

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int c = threadIdx.x & 31;
  for (int r = threadIdx.x >> 5; r < kTile; r += 8) {
    int i = blockIdx.y * kTile + r, j = blockIdx.x * kTile + c;
    if (i < n && j < m) tile[r][c ^ r] = in[i * m + j];
  }
  __syncthreads();
  for (int r = threadIdx.x >> 5; r < kTile; r += 8) {
    int i = blockIdx.x * kTile + r, j = blockIdx.y * kTile + c;
    if (i < m && j < n) out[i * n + j] = tile[c][r ^ c];
  }
}
