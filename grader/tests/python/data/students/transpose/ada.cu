template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  if (row < n && col < m) {
    tile[threadIdx.y][threadIdx.x] = in[row * m + col];
  }
  __syncthreads();
  int outCol = blockIdx.y * kTile + threadIdx.x;
  int outRow = blockIdx.x * kTile + threadIdx.y;
  if (outRow < m && outCol < n) {
    out[outRow * n + outCol] = tile[threadIdx.x][threadIdx.y];
  }
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  if (row < n && col < m) {
    tile[threadIdx.y][threadIdx.x] = in[row * m + col];
  }
  __syncthreads();
  int outCol = blockIdx.y * kTile + threadIdx.x;
  int outRow = blockIdx.x * kTile + threadIdx.y;
  if (outRow < m && outCol < n) {
    out[outRow * n + outCol] = tile[threadIdx.x][threadIdx.y];
  }
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int col = blockIdx.x * kTile + threadIdx.x;
  int row = blockIdx.y * kTile + threadIdx.y;
  if (row < n && col < m) {
    tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[row * m + col];
  }
  __syncthreads();
  int outCol = blockIdx.y * kTile + threadIdx.x;
  int outRow = blockIdx.x * kTile + threadIdx.y;
  if (outRow < m && outCol < n) {
    out[outRow * n + outCol] = tile[threadIdx.x][threadIdx.x ^ threadIdx.y];
  }
}

LAB32_TILE(transpose_best, .rows = 32, .columns = 32, .threads = 256);

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int tx = threadIdx.x % 32;
  int ty = threadIdx.x / 32;
  int col = blockIdx.x * kTile + tx;
  for (int i = 0; i < 32; i += 8) {
    int row = blockIdx.y * kTile + ty + i;
    if (row < n && col < m) tile[ty + i][tx] = in[row * m + col];
  }
  __syncthreads();
  int outCol = blockIdx.y * kTile + tx;
  for (int i = 0; i < 32; i += 8) {
    int outRow = blockIdx.x * kTile + ty + i;
    if (outRow < m && outCol < n) out[outRow * n + outCol] = tile[tx][ty + i];
  }
}
