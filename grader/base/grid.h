// The arrangement of the threads of a launch: lanes in warps, warps in blocks, blocks in a grid.
// Dim3 corresponds to CUDA's dim3.
#pragma once

#include <cstdint>

namespace lab32 {

// The number of lanes of a warp.
constexpr int kWarpSize = 32;

// The number of blocks of a grid, or of threads of a block, in each direction.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// A launch of one block of a grid, without some of its threads: these lanes of each warp, and all
// lanes of one warp.
struct PartialBlockLaunch {
  uint64_t block = 0;
  uint32_t absent_lanes = 0;
  int absent_warp = -1;  // -1: none

  uint32_t absent_lanes_of_warp(uint64_t of_block, uint32_t warp) const {
    return of_block != block || static_cast<int>(warp) == absent_warp ? ~0u : absent_lanes;
  }
};

}  // namespace lab32
