#include "observers/sectors.h"

#include <algorithm>
#include <cstdlib>

#include "observers/lanes.h"

namespace lab32::observe {
namespace {

uint64_t sector_of(uint64_t address) { return address / kSectorBytes; }

// A warp that steps by less than a sector leaves none out between its first and its last; one that
// steps by a sector or more has one for each lane.
uint32_t affine_sectors(const uint64_t* address, int64_t stride) {
  if (std::llabs(stride) >= kSectorBytes) return kLanes;
  const uint64_t a = sector_of(address[0]), b = sector_of(address[kLanes - 1]);
  return static_cast<uint32_t>(std::max(a, b) - std::min(a, b)) + 1;
}

// Counts sectors in lane order: while they do not decrease, each change is a new one. Returns 0 at
// the first that goes back.
uint32_t ascending_sectors(const uint64_t* address, uint32_t n) {
  uint32_t count = 1;
  for (uint32_t i = 1; i < n; ++i) {
    const uint64_t before = sector_of(address[i - 1]), now = sector_of(address[i]);
    if (now < before) return 0;
    count += now != before;
  }
  return count;
}

}  // namespace

uint32_t distinct_sectors(const uint64_t* address, uint32_t /*bytes*/, uint32_t mask) {
  if (mask == 0) return 0;
  int64_t stride;
  if (mask == kAllLanes && is_affine(address, &stride)) return affine_sectors(address, stride);
  uint64_t active[kLanes];
  const uint32_t n = gather(address, mask, active);
  if (const uint32_t count = ascending_sectors(active, n)) return count;

  // Permutations and swizzles stay within a few neighbouring sectors: one bit each.
  const auto [low, high] = std::minmax_element(active, active + n);
  const uint64_t first = sector_of(*low);
  if (sector_of(*high) - first < 64) {
    uint64_t touched = 0;
    for (uint32_t i = 0; i < n; ++i) touched |= uint64_t{1} << (sector_of(active[i]) - first);
    return static_cast<uint32_t>(__builtin_popcountll(touched));
  }
  KeyCounts sectors;
  for (uint32_t i = 0; i < n; ++i) sectors.add(sector_of(active[i]));
  return sectors.distinct();
}

uint32_t atomic_sectors(const uint64_t* address, uint32_t bytes, uint32_t mask) {
  if (mask == 0) return 0;
  int64_t stride;
  if (mask == kAllLanes && is_affine(address, &stride)) {
    return stride == 0 ? kLanes : affine_sectors(address, stride);
  }
  // The k-th lane on a word is served in turn k. A sector's turns run from 0 to the most lanes on
  // one of its words, so the distinct pairs (sector, turn) are the sum that is wanted.
  KeyCounts words, turns;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint64_t at = address[__builtin_ctz(left)];
    const uint32_t turn = words.add(at / bytes);
    turns.add(sector_of(at) * kLanes + turn);
  }
  return turns.distinct();
}

uint32_t ideal_sectors(uint32_t distinct, uint32_t bytes, uint32_t mask) {
  const uint32_t asked = lane_count(mask) * bytes;
  return std::min(distinct, (asked + kSectorBytes - 1) / kSectorBytes);
}

}  // namespace lab32::observe
