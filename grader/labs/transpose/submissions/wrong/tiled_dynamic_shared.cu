// verdict: B1 tiled: result | failed | "out of bounds"
// verdict: B1 tiled: sectors | failed | "counts once the result is right"
// verdict: B1 tiled: partial tiles | failed | "counts once the result is right"
// The tile is asked of the launch, and the launch gives none.
extern __shared__ int dynamic_tile[];

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  T* tile = reinterpret_cast<T*>(dynamic_tile);
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[kTile * threadIdx.y + threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[kTile * threadIdx.x + threadIdx.y];
}
