#include "labs/swizzle/weighed.h"

namespace lab32::checks::swizzle {
namespace {

constexpr uint32_t kColumns = 64, kWarps = 8, kStrips = 4, kSteps = 4, kLanes = 32;

// With these bounds no sum of four products reaches 65535, which is poison.
constexpr uint32_t kElementBound = 256, kWeightBound = 64;

}  // namespace

std::vector<uint16_t> tile_elements(Random& random, uint32_t tiles) {
  std::vector<uint16_t> elements(size_t{tiles} * kTileElements);
  for (uint16_t& e : elements) e = static_cast<uint16_t>(random.below(kElementBound));
  return elements;
}

std::vector<uint32_t> strip_weights(Random& random) {
  std::vector<uint32_t> weights(kWarps * kStrips);
  for (uint32_t& w : weights) w = random.below(kWeightBound);
  return weights;
}

Weighed::Weighed(uint32_t index)
    : warp(index / 8 / kLanes / kSteps % kWarps),
      step(index / 8 / kLanes % kSteps),
      lane(index / 8 % kLanes),
      matrix(index % 8 / 2),
      half(index % 2) {}

// ldmatrix gives lane l the neighbours 2 (l % 4) and one more of row l / 4 of each matrix; with
// .trans of column l / 4 (PTX ISA).
uint32_t Weighed::row(bool transpose) const {
  return 8 * (matrix % 2) + (transpose ? 2 * (lane % 4) + half : lane / 4);
}

uint32_t Weighed::column(bool transpose) const {
  return 16 * step + 8 * (matrix / 2) + (transpose ? lane / 4 : 2 * (lane % 4) + half);
}

std::vector<uint16_t> weighed(const std::vector<uint16_t>& elements,
                              const std::vector<uint32_t>& weights, bool transpose) {
  // Where results come from is the same in all tiles.
  std::vector<Weighed> places;
  std::vector<uint32_t> offsets;  // in the first strip
  for (uint32_t i = 0; i < kWeighedTile; ++i) {
    places.emplace_back(i);
    offsets.push_back(places[i].row(transpose) * kColumns + places[i].column(transpose));
  }
  std::vector<uint16_t> results(elements.size() / kTileElements * kWeighedTile);
  for (size_t i = 0; i < results.size(); ++i) {
    const uint32_t at = static_cast<uint32_t>(i % kWeighedTile);
    const uint16_t* tile = &elements[i / kWeighedTile * kTileElements];
    uint32_t sum = 0;
    for (uint32_t s = 0; s < kStrips; ++s)
      sum += weights[kStrips * places[at].warp + s] * tile[16 * s * kColumns + offsets[at]];
    results[i] = static_cast<uint16_t>(sum);
  }
  return results;
}

}  // namespace lab32::checks::swizzle
