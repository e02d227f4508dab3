// verdict: B2 padded: wavefronts | failed | "take 32 wavefronts where 1 would do"
// No padding: the tile's addresses are generic ones, so that nothing says that it is shared memory.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x >= n || y >= m) return;
  const T* at = &tile[threadIdx.x][threadIdx.y];
  if constexpr (sizeof(T) == 4) {
    unsigned bits;
    asm volatile("ld.volatile.b32 %0, [%1];" : "=r"(bits) : "l"(at) : "memory");
    out[y * n + x] = reinterpret_cast<T&>(bits);
  } else {
    out[y * n + x] = *at;
  }
}
