// Part C of the swizzle lab: tiles, weights, and what the kernels make of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"

namespace lab32::checks::swizzle {

constexpr uint32_t kWeighingThreads = 256;         // a block: 8 warps
constexpr uint32_t kTileElements = 64 * 64;        // of 2 bytes each
constexpr uint32_t kWeighedTile = 8 * 4 * 32 * 8;  // results of a tile, of 2 bytes each

std::vector<uint16_t> tile_elements(Random& random, uint32_t tiles);
std::vector<uint32_t> strip_weights(Random& random);

// Element `index` of a tile's results, as the contract counts them.
struct Weighed {
  uint32_t warp, step, lane, matrix, half;
  explicit Weighed(uint32_t index);
  // Of the tile's elements that it is made of.
  uint32_t row(bool transpose) const;  // in each strip
  uint32_t column(bool transpose) const;
};

// The results of all tiles.
std::vector<uint16_t> weighed(const std::vector<uint16_t>& elements,
                              const std::vector<uint32_t>& weights, bool transpose);

}  // namespace lab32::checks::swizzle
