template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T buf[32][32];
  unsigned int x = threadIdx.x + blockDim.x * blockIdx.x;
  unsigned int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x < m && y < n) buf[threadIdx.y][threadIdx.x] = in[x + m * y];
  __syncthreads();
  x = threadIdx.x + blockDim.y * blockIdx.y;
  y = threadIdx.y + blockDim.x * blockIdx.x;
  if (x < n && y < m) out[x + n * y] = buf[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T buf[32][33];
  unsigned int x = threadIdx.x + blockDim.x * blockIdx.x;
  unsigned int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x < m && y < n) buf[threadIdx.y][threadIdx.x] = in[x + m * y];
  __syncthreads();
  x = threadIdx.x + blockDim.y * blockIdx.y;
  y = threadIdx.y + blockDim.x * blockIdx.x;
  if (x < n && y < m) out[x + n * y] = buf[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T buf[32][32];
  unsigned int x = threadIdx.x + blockDim.x * blockIdx.x;
  unsigned int y = threadIdx.y + blockDim.y * blockIdx.y;
  if (x < m && y < n) buf[threadIdx.y][(threadIdx.x ^ threadIdx.y) & 31] = in[x + m * y];
  __syncthreads();
  x = threadIdx.x + blockDim.y * blockIdx.y;
  y = threadIdx.y + blockDim.x * blockIdx.x;
  if (x < n && y < m) out[x + n * y] = buf[threadIdx.x][(threadIdx.y ^ threadIdx.x) & 31];
}

LAB32_TILE(transpose_best, .rows = 64, .columns = 32, .threads = 512);

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T buf[64][33];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int x = blockIdx.x * 32 + lane;
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    int y = blockIdx.y * 64 + warp * 4 + step;
    if (x < m && y < n) buf[warp * 4 + step][lane] = in[x + m * y];
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    int row = blockIdx.x * 32 + warp * 2 + step;
    for (int half = 0; half < 2; ++half) {
      int column = blockIdx.y * 64 + half * 32 + lane;
      if (row < m && column < n) out[column + n * row] = buf[half * 32 + lane][warp * 2 + step];
    }
  }
}
