// verdict: B2 padded: wavefronts | failed | "take 32 wavefronts where 1 would do"
// An unpadded tile, whose columns are read by addresses of a cluster: that of the block alone, which
// every grid can be divided into. What goes to another block's memory is counted elsewhere than the banks' conflicts.
template <class T>
__global__ void __cluster_dims__(1, 1, 1) transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  if (x < m && y < n) tile[threadIdx.y][threadIdx.x] = in[y * m + x];
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  if (x < n && y < m) {
    const unsigned own = static_cast<unsigned>(__cvta_generic_to_shared(&tile[threadIdx.x][threadIdx.y]));
    unsigned there, word;
    unsigned short half;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(own));
    if (sizeof(T) == 2) {
      asm volatile("ld.shared::cluster.u16 %0, [%1];" : "=h"(half) : "r"(there) : "memory");
      out[y * n + x] = *reinterpret_cast<T*>(&half);
    } else {
      asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(word) : "r"(there) : "memory");
      out[y * n + x] = *reinterpret_cast<T*>(&word);
    }
  }
}
