// Asynchronous copies load the tile: element by element in B1 to B3 (shorts are too small for that
// and go through registers), 16 bytes at a time in B4, whose squares are transposed when stored.
#include <cuda_pipeline.h>

template <class T>
__device__ __forceinline__ void fetch(T* to, const T* from) {
  if constexpr (sizeof(T) >= 4) {
    __pipeline_memcpy_async(to, from, sizeof(T));
  } else {
    *to = *from;
  }
}

__device__ __forceinline__ void all_fetched() {
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) fetch(&tile[threadIdx.y][threadIdx.x], &in[y * m + x]);
  all_fetched();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) fetch(&tile[threadIdx.y][threadIdx.x], &in[y * m + x]);
  all_fetched();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) fetch(&tile[threadIdx.y][threadIdx.x ^ threadIdx.y], &in[y * m + x]);
  all_fetched();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}
