// verdict: B1 tiled: sectors | failed | "touch 32 sectors where 4 would do"
// verdict: B1 tiled: partial tiles | failed | "touch 32 sectors where 4 would do"
// May one write out[(bx + tx) * n + by + ty] = smem[ty * BDIM + tx]? The result is right, and the
// stores are the naive ones.
template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile][kTile];
  int bx = kTile * blockIdx.x, by = kTile * blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  if (bx + tx < m && by + ty < n) tile[ty][tx] = in[(by + ty) * m + bx + tx];
  __syncthreads();
  if (bx + tx < m && by + ty < n) out[(bx + tx) * n + by + ty] = tile[ty][tx];
}
