// Cooperative groups: a warp copies whole rows into structures that have their padding inside; four
// lanes fetch the weights of their warp, and the others get them by shuffle.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

template <bool kTranspose>
__global__ void weigh_padded(const uint4* in, const unsigned* weight, uint4* out) {
  struct alignas(16) Row {
    unsigned short element[64], padding[8];
  };
  __shared__ Row tile[kRows];
  __shared__ unsigned weights[kWarps][4];
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  const int w = warp.meta_group_rank(), lane = warp.thread_rank();
  in += kRows * kChunks * blockIdx.x;
  for (int row = w; row < kRows; row += kWarps)
    if (lane < kChunks) reinterpret_cast<uint4*>(tile[row].element)[lane] = in[8 * row + lane];
  block.sync();
  const unsigned mine = lane < 4 ? weight[4 * w + lane] : 0;
  for (int k = 0; k < 4; ++k) {
    uint4 sum = {};
    for (int s = 0; s < 4; ++s) {
      const Row& row = tile[16 * s + lane % 16];
      const uint4 m = load_matrices<kTranspose>(
          reinterpret_cast<const uint4*>(&row.element[16 * k + lane / 16 * 8]));
      add_weighted(sum, warp.shfl(mine, s), m);
    }
    out[((kWarps * blockIdx.x + w) * 4 + k) * 32 + lane] = sum;
  }
}
