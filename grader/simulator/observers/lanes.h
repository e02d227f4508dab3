// Helpers that the counting rules share. They gather the addresses of the active lanes, test
// whether addresses form an arithmetic progression (nearly every access of a well-behaved kernel
// does, and its counts then have a closed form), and count distinct values of at most 64 keys
// without heap allocations.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/grid.h"

namespace lab32::counters {

constexpr uint32_t kAllLanes = 0xffffffffu;

inline uint32_t lane_count(uint32_t mask) {
  return static_cast<uint32_t>(__builtin_popcount(mask));
}

// Packs the addresses of the lanes in `mask` into `out`, in lane order. Returns how many there are.
inline uint32_t pack_active_addresses(const uint64_t* address, uint32_t mask, uint64_t* out) {
  uint32_t n = 0;
  for (; mask != 0; mask &= mask - 1) out[n++] = address[__builtin_ctz(mask)];
  return n;
}

// True when all 32 addresses are address[0] + lane * stride. The addresses are compared four at a
// time as vectors, because this test runs before every count and the plain loop costs three times
// as much.
inline bool is_affine(const uint64_t* address, int64_t* stride) {
  typedef uint64_t Four __attribute__((vector_size(32)));
  const uint64_t base = address[0];
  const uint64_t d = address[1] - base;
  Four expected = {base, base + d, base + 2 * d, base + 3 * d};
  Four difference = {0, 0, 0, 0};
  for (uint32_t lane = 0; lane < kWarpSize; lane += 4) {
    Four actual;
    std::memcpy(&actual, address + lane, sizeof actual);
    difference |= actual ^ expected;
    expected += 4 * d;
  }
  *stride = static_cast<int64_t>(d);
  return (difference[0] | difference[1] | difference[2] | difference[3]) == 0;
}

// True if the addresses of both half-warps are first + lane * stride, with the same stride in both
// and a separate `first` for each half.
inline bool halves_share_stride(const uint64_t* address) {
  typedef uint64_t Four __attribute__((vector_size(32)));
  const uint64_t d = address[1] - address[0];
  const Four steps = {0, d, 2 * d, 3 * d};
  Four difference = {0, 0, 0, 0};
  for (uint32_t half = 0; half < kWarpSize; half += kWarpSize / 2) {
    Four expected = address[half] + steps;
    for (uint32_t lane = half; lane < half + kWarpSize / 2; lane += 4) {
      Four actual;
      std::memcpy(&actual, address + lane, sizeof actual);
      difference |= actual ^ expected;
      expected += 4 * d;
    }
  }
  return (difference[0] | difference[1] | difference[2] | difference[3]) == 0;
}

// A set of at most 64 keys. `occupied_` makes clearing the table unnecessary, which would cost more
// than the usual 32 insertions.
class HashSetOfUpTo64Keys {
 public:
  void add(uint64_t key) {
    uint32_t i = static_cast<uint32_t>((key * 0x9e3779b97f4a7c15u) >> 58);
    while ((occupied_ >> i & 1) != 0) {
      if (key_[i] == key) return;
      i = (i + 1) % 64;
    }
    occupied_ |= uint64_t{1} << i;
    key_[i] = key;
  }
  uint32_t size() const { return static_cast<uint32_t>(__builtin_popcountll(occupied_)); }

 private:
  uint64_t occupied_ = 0;
  uint64_t key_[64];
};

}  // namespace lab32::counters
