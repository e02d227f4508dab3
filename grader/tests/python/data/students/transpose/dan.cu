template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T block[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) block[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = block[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T block[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) block[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = block[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T block[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  int sx = threadIdx.x ^ threadIdx.y;
  if (x < m && y < n) block[threadIdx.y][sx] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = block[threadIdx.x][sx];
}

LAB32_TILE(transpose_best, .rows = 32, .columns = 32, .threads = 64);

template <class T>
struct alignas(4 * sizeof(T)) Vec4 {
  T x, y, z, w;
};

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  int x0 = blockIdx.x * 32 + (threadIdx.x % 8) * 4;
  int y0 = blockIdx.y * 32 + (threadIdx.x / 8) * 4;
  if (n % 4 == 0 && m % 4 == 0) {
    if (x0 >= m || y0 >= n) return;
    Vec4<T> a = *(const Vec4<T>*)(in + y0 * m + x0);
    Vec4<T> b = *(const Vec4<T>*)(in + (y0 + 1) * m + x0);
    Vec4<T> c = *(const Vec4<T>*)(in + (y0 + 2) * m + x0);
    Vec4<T> d = *(const Vec4<T>*)(in + (y0 + 3) * m + x0);
    *(Vec4<T>*)(out + x0 * n + y0) = {a.x, b.x, c.x, d.x};
    *(Vec4<T>*)(out + (x0 + 1) * n + y0) = {a.y, b.y, c.y, d.y};
    *(Vec4<T>*)(out + (x0 + 2) * n + y0) = {a.z, b.z, c.z, d.z};
    *(Vec4<T>*)(out + (x0 + 3) * n + y0) = {a.w, b.w, c.w, d.w};
  } else {
    for (int y = y0; y < y0 + 4; y++)
      for (int x = x0; x < x0 + 4; x++)
        if (x < m && y < n) out[x * n + y] = in[y * m + x];
  }
}
