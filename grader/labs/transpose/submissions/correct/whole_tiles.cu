// A template without comparisons for whole tiles, another with comparisons for the rest; the best
// version uses uint4 and leaves the loop early at the edge.
template <bool kWhole, int kPitch, class T>
__device__ void turn(T* tile, const T* in, T* out, int n, int m) {
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  if (kWhole || (x < m && y < n)) tile[kPitch * threadIdx.y + threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  if (kWhole || (x < n && y < m)) out[y * n + x] = tile[kPitch * threadIdx.x + threadIdx.y];
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * kTile];
  if ((blockIdx.x + 1) * kTile <= m && (blockIdx.y + 1) * kTile <= n)
    turn<true, kTile>(tile, in, out, n, m);
  else
    turn<false, kTile>(tile, in, out, n, m);
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * (kTile + 1)];
  if ((blockIdx.x + 1) * kTile <= m && (blockIdx.y + 1) * kTile <= n)
    turn<true, kTile + 1>(tile, in, out, n, m);
  else
    turn<false, kTile + 1>(tile, in, out, n, m);
}

LAB32_TILE(transpose_best, .rows = 128, .columns = 32, .threads = 256);

template <class T>
__global__ void transpose_best(const T* __restrict__ in, T* __restrict__ out, int n, int m) {
  __shared__ Four<T> tile[32][32];
  const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 128;
  if (n % 4 != 0 || m % 4 != 0) {
    T* flat = tile[0][0].v;
    constexpr int kWord = 4 / sizeof(T);
    for (int j = threadIdx.x / 32; j < 128; j += 8) {
      const int i = threadIdx.x % 32;
      if (y0 + j >= n) break;
      if (x0 + i < m) flat[128 * i + (j ^ i * kWord % 128)] = in[(y0 + j) * m + x0 + i];
    }
    __syncthreads();
    for (int j = threadIdx.x / 128; j < 32; j += 2) {
      const int i = threadIdx.x % 128;
      if (x0 + j >= m || y0 + i >= n) break;
      out[(x0 + j) * n + y0 + i] = flat[128 * j + (i ^ j * kWord % 128)];
    }
    return;
  }
  const int i = threadIdx.x % 8, j = threadIdx.x / 8;
  if (x0 + 4 * i < m && y0 + 4 * j < n) {
    const T* from = in + (y0 + 4 * j) * m + x0 + 4 * i;
    Four<T> r[4];
#pragma unroll
    for (int k = 0; k < 4; ++k, from += m) r[k] = *reinterpret_cast<const Four<T>*>(from);
#pragma unroll
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][j ^ i] = {r[0].v[k], r[1].v[k], r[2].v[k], r[3].v[k]};
  }
  __syncthreads();
  const int c = threadIdx.x % 32;
#pragma unroll
  for (int r = threadIdx.x / 32; r < 32; r += 8) {
    if (x0 + r >= m || y0 + 4 * c >= n) break;
    *reinterpret_cast<Four<T>*>(out + (x0 + r) * n + y0 + 4 * c) = tile[r][c ^ r / 4];
  }
}
