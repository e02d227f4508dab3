template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T s[kTile * kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int bx = blockIdx.x * kTile, by = blockIdx.y * kTile;
  if (bx + tx < m && by + ty < n) s[ty * kTile + tx] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (by + tx < n && bx + ty < m) out[(bx + ty) * n + by + tx] = s[tx * kTile + ty];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  constexpr int pitch = kTile + 1;
  __shared__ T s[kTile * pitch];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int bx = blockIdx.x * kTile, by = blockIdx.y * kTile;
  if (bx + tx < m && by + ty < n) s[ty * pitch + tx] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (by + tx < n && bx + ty < m) out[(bx + ty) * n + by + tx] = s[tx * pitch + ty];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T s[kTile * kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int bx = blockIdx.x * kTile, by = blockIdx.y * kTile;
  if (bx + tx < m && by + ty < n) s[ty * kTile + (tx ^ ty)] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (by + tx < n && bx + ty < m) out[(bx + ty) * n + by + tx] = s[tx * kTile + (tx ^ ty)];
}

LAB32_TILE(transpose_best, .rows = 64, .columns = 64, .threads = 256);

template <class T>
struct alignas(4 * sizeof(T)) Quad {
  T e[4];
};

template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ T s[64][65];
  const int bx = blockIdx.x * 64, by = blockIdx.y * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const bool vec = n % 4 == 0 && m % 4 == 0;
  for (int r = ty; r < 64; r += 16) {
    const int y = by + r, x = bx + 4 * tx;
    if (y >= n || x >= m) continue;
    if (vec) {
      const Quad<T> q = *reinterpret_cast<const Quad<T>*>(&in[y * m + x]);
      for (int k = 0; k < 4; k++) s[r][4 * tx + k] = q.e[k];
    } else {
      for (int k = 0; k < 4; k++)
        if (x + k < m) s[r][4 * tx + k] = in[y * m + x + k];
    }
  }
  __syncthreads();
  for (int r = ty; r < 64; r += 16) {
    const int y = bx + r, x = by + 4 * tx;
    if (y >= m || x >= n) continue;
    if (vec) {
      Quad<T> q;
      for (int k = 0; k < 4; k++) q.e[k] = s[4 * tx + k][r];
      *reinterpret_cast<Quad<T>*>(&out[y * n + x]) = q;
    } else {
      for (int k = 0; k < 4; k++)
        if (x + k < n) out[y * n + x + k] = s[4 * tx + k][r];
    }
  }
}
