// Rows rotated instead of XORed, a flat tile, a pitch of 33 in one piece, and a rectangle of 32 x
// 128 for the best: other ways to the same counters.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * kTile];
  int bx = kTile * blockIdx.x, by = kTile * blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  if (bx + tx < m && by + ty < n) tile[kTile * tx + ty] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (by + tx < n && bx + ty < m) out[(bx + ty) * n + by + tx] = tile[kTile * ty + tx];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * (kTile + 1)];
  int bx = kTile * blockIdx.x, by = kTile * blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  if (bx + tx < m && by + ty < n) tile[(kTile + 1) * tx + ty] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (by + tx < n && bx + ty < m) out[(bx + ty) * n + by + tx] = tile[(kTile + 1) * ty + tx];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  int turned = (threadIdx.x + threadIdx.y) % kTile;
  if (x < m && y < n) tile[threadIdx.y][turned] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][turned];
}

LAB32_TILE(transpose_best, .rows = 32, .columns = 128, .threads = 256);

// Vectors rotated by their row instead of XORed; matrices that vectors do not fit go straight to
// memory: right is enough there.
template <class T>
__global__ void transpose_best(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tile[128][8];
  int i = threadIdx.x % 32, j = threadIdx.x / 32;
  int bx = blockIdx.x * 128, by = blockIdx.y * 32;
  if (n % 4 != 0 || m % 4 != 0) {
    for (int e = threadIdx.x; e < 32 * 128; e += 256) {
      int x = bx + e % 128, y = by + e / 128;
      if (x < m && y < n) out[x * n + y] = in[y * m + x];
    }
    return;
  }
  if (bx + 4 * i < m && by + 4 * j < n) {
    Four<T> row[4];
    for (int k = 0; k < 4; ++k)
      row[k] = *reinterpret_cast<const Four<T>*>(in + (by + 4 * j + k) * m + bx + 4 * i);
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][(i + j) % 8] = {row[0].v[k], row[1].v[k], row[2].v[k], row[3].v[k]};
  }
  __syncthreads();
  i = threadIdx.x % 8, j = threadIdx.x / 8;
  if (by + 4 * i < n && bx + 4 * j < m) {
    for (int k = 0; k < 4; ++k)
      *reinterpret_cast<Four<T>*>(out + (bx + 4 * j + k) * n + by + 4 * i) =
          tile[4 * j + k][(i + j) % 8];
  }
}
