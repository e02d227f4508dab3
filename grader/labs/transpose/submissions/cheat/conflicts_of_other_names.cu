// verdict: B2 padded: wavefronts | failed | "take 32 wavefronts where 1 would do"
// verdict: B3 swizzled: wavefronts | failed | "take 32 wavefronts where 1 would do"
// No padding and no swizzle. The accesses that conflict are no loads and stores by name:
// asynchronous copies write the columns of one tile, atomics read those of the other, by generic
// addresses.
template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) {
    T* at = &tile[threadIdx.x][threadIdx.y];
    if constexpr (sizeof(T) == 4)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(at))),
                   "l"(in + y * m + x)
                   : "memory");
    else
      *at = in[y * m + x];
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) out[y * n + x] = tile[threadIdx.y][threadIdx.x];
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x >= n || y >= m) return;
  T v = tile[threadIdx.x][threadIdx.y];
  if constexpr (sizeof(T) == 4) {
    unsigned bits;
    asm volatile("atom.or.b32 %0, [%1], 0;"
                 : "=r"(bits)
                 : "l"(&tile[threadIdx.x][threadIdx.y])
                 : "memory");
    v = reinterpret_cast<T&>(bits);
  }
  out[y * n + x] = v;
}
