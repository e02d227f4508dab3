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

}  // namespace lab32
