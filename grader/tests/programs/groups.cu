// Cooperative groups inside a block: tiles, coalesced groups, collectives, partitions.
//! stdout| tiles of 8: rank 5 of tile 3, sum of its tile 220
//! stdout| odd threads: 16 of a warp, rank of lane 31: 15
//! stdout| scan in a warp: 0 1 3 6 ... 496
//! stdout| thirds: 11 11 10, largest lane of each 30 31 29
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto eight = cg::tiled_partition<8>(block);
  const int t = static_cast<int>(block.thread_rank());
  if (t == 29) out[0] = eight.thread_rank(), out[1] = eight.meta_group_rank();
  const int sum = cg::reduce(eight, t, cg::plus<int>());
  if (t == 29) out[2] = sum;
  if (t % 2 == 1) {
    const auto odd = cg::coalesced_threads();
    if (t == 31) out[3] = odd.size(), out[4] = odd.thread_rank();
  }
  warp.sync();
  if (warp.meta_group_rank() == 0) {
    out[8 + t] = cg::inclusive_scan(warp, t, cg::plus<int>());
    const auto third = cg::labeled_partition(warp, t % 3);
    const int most = cg::reduce(third, t, cg::greater<int>());
    if (third.thread_rank() == 0) out[40 + 2 * t] = third.size(), out[41 + 2 * t] = most;
  }
}

int main() {
  int *out, v[64];
  cudaMalloc(&out, sizeof v);
  cudaMemset(out, 0, sizeof v);
  tiles<<<1, 64>>>(out);
  cudaMemcpy(v, out, sizeof v, cudaMemcpyDeviceToHost);
  std::printf("tiles of 8: rank %d of tile %d, sum of its tile %d\n", v[0], v[1], v[2]);
  std::printf("odd threads: %d of a warp, rank of lane 31: %d\n", v[3], v[4]);
  std::printf("scan in a warp: %d %d %d %d ... %d\n", v[8], v[9], v[10], v[11], v[39]);
  std::printf("thirds: %d %d %d, largest lane of each %d %d %d\n", v[40], v[42], v[44], v[41],
              v[43], v[45]);
  return 0;
}
