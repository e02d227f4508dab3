// verdict: B1 tiled: sectors | failed | "sectors"
// verdict: B1 tiled: partial tiles | failed | "Which lanes of a partial tile"
// verdict: B2 padded: sectors | failed | "sectors"
// verdict: B2 padded: wavefronts | failed | "see `B2 padded: sectors`"
// The tile of each block is a variable in device memory: no shared memory, no banks, no wavefronts.
template <class T>
__device__ T tiles[8192][kTile][kTile + 1];

template <class T>
__device__ void turn_in_device_memory(const T* in, T* out, int n, int m) {
  int block = (blockIdx.y * gridDim.x + blockIdx.x) % 8192;
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tiles<T>[block][threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tiles<T>[block][threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  turn_in_device_memory(in, out, n, m);
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  turn_in_device_memory(in, out, n, m);
}
