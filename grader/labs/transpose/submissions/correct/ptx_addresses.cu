// Shared memory by 32-bit addresses: inline loads and stores, and one XOR that turns the store's
// address into the load's. A union of types keeps the width of the access.
template <int kBytes>
__device__ __forceinline__ void put(unsigned at, const void* from) {
  if constexpr (kBytes == 4)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(*(const unsigned*)from) : "memory");
  else
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(at), "h"(*(const unsigned short*)from) : "memory");
}

template <int kBytes>
__device__ __forceinline__ void get(void* to, unsigned at) {
  if constexpr (kBytes == 4)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(*(unsigned*)to) : "r"(at) : "memory");
  else
    asm volatile("ld.shared.b16 %0, [%1];" : "=h"(*(unsigned short*)to) : "r"(at) : "memory");
}

template <class T>
__global__ void transpose_swizzled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * kTile];
  constexpr unsigned kSize = sizeof(T);
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const size_t x = size_t{blockIdx.x} * kTile, y = size_t{blockIdx.y} * kTile;
  if (x + tx < m && y + ty < n) {
    const T v = __ldg(in + (y + ty) * m + x + tx);
    put<kSize>(base + kSize * (kTile * ty + (tx ^ ty)), &v);
  }
  asm volatile("bar.sync 0;" ::: "memory");
  if (y + tx >= n || x + ty >= m) return;
  T v;
  get<kSize>(&v, base + kSize * (kTile * tx + (tx ^ ty)));
  out[(x + ty) * n + y + tx] = v;
}
