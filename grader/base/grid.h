// How the threads of a launch are arranged: lanes in warps, warps in blocks, blocks in a grid.
#pragma once

#include <cstdint>

namespace lab32 {

// The lanes of a warp.
constexpr int kWarpSize = 32;

// How many blocks a grid has, or threads a block, in each direction.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

}  // namespace lab32
