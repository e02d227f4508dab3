// verdict: B2 padded: result | failed | "the grid must be a multiple of the cluster"
// verdict: B2 padded: sectors | failed | "see `B2 padded: result`"
// verdict: B2 padded: wavefronts | failed | "see `B2 padded: sectors`"
// The unpadded tile lies in the other block of a cluster, whose banks' conflicts are not this block's: the
// columns go there and come back as rows. A grid of one block has no neighbour.
template <class T>
__global__ void __cluster_dims__(2, 1, 1) transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  const T value = x < m && y < n ? in[y * m + x] : T();
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  void* there;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&tile[0][0]), "r"(rank ^ 1));
  T* other = static_cast<T*>(there);
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  other[kTile * threadIdx.x + threadIdx.y] = value;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  const T turned = other[kTile * threadIdx.y + threadIdx.x];
  if (x < n && y < m) out[y * n + x] = turned;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
