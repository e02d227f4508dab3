// Cooperative groups: ranks instead of threadIdx, a tile of 32 lanes for each row, sync() of the
// block, and for the best version one warp for 32 x 32 elements, without barriers of the block.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <int kPitch, class T>
__device__ void turn_by_groups(T* tile, const T* in, T* out, int n, int m) {
  auto block = cg::this_thread_block();
  auto row = cg::tiled_partition<32>(block);
  const int i = row.thread_rank(), j = row.meta_group_rank();
  const int x = block.group_index().x * kTile, y = block.group_index().y * kTile;
  if (x + i < m && y + j < n) tile[j * kPitch + i] = in[(y + j) * m + x + i];
  block.sync();
  if (y + i < n && x + j < m) out[(x + j) * n + y + i] = tile[i * kPitch + j];
}

template <class T>
__global__ void transpose_tiled(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * kTile];
  turn_by_groups<kTile>(tile, in, out, n, m);
}

template <class T>
__global__ void transpose_padded(const T* in, T* out, int n, int m) {
  __shared__ T tile[kTile * (kTile + 1)];
  turn_by_groups<kTile + 1>(tile, in, out, n, m);
}

LAB32_TILE(transpose_best, .rows = 32, .columns = 32 * 4, .threads = 32 * 4);

template <class T>
__global__ void __launch_bounds__(128) transpose_best(const T* in, T* out, int n, int m) {
  __shared__ Four<T> tiles[4][32][8];
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  Four<T>(*tile)[8] = tiles[warp.meta_group_rank()];
  const int x0 = (blockIdx.x * 4 + warp.meta_group_rank()) * 32, y0 = blockIdx.y * 32;
  if (x0 >= m) return;  // the whole warp, and nobody waits for it
  const int i = warp.thread_rank() % 8, j = warp.thread_rank() / 8;
  if (n % 4 || m % 4) {
    T* elements = tile[0][0].v;
    constexpr int kWord = 4 / sizeof(T);
    const int lane = warp.thread_rank();
    for (int k = 0; k < 32 && y0 + k < n; ++k)
      if (x0 + lane < m) elements[32 * k + (lane ^ k * kWord % 32)] = in[(y0 + k) * m + x0 + lane];
    warp.sync();
    for (int k = 0; k < 32 && x0 + k < m; ++k)
      if (y0 + lane < n)
        out[(x0 + k) * n + y0 + lane] = elements[32 * lane + (k ^ lane * kWord % 32)];
    return;
  }
  // Lane (j, i) has columns 4i to 4i + 3 of the four rows from 4j on, and of those from 16 + 4j on.
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int x = x0 + 4 * i, y = y0 + 16 * half + 4 * j;
    if (x >= m || y >= n) continue;
    Four<T> row[4];
    for (int k = 0; k < 4; ++k) row[k] = *reinterpret_cast<const Four<T>*>(&in[(y + k) * m + x]);
    for (int k = 0; k < 4; ++k)
      tile[4 * i + k][4 * half + j ^ i] = {row[0].v[k], row[1].v[k], row[2].v[k], row[3].v[k]};
  }
  warp.sync();
#pragma unroll
  for (int k = 0; k < 32; k += 4) {
    const int x = y0 + 4 * i, y = x0 + k + j;
    if (x < n && y < m) *reinterpret_cast<Four<T>*>(&out[y * n + x]) = tile[k + j][i ^ k / 4];
  }
}
