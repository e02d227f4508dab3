// Addresses of a whole warp that follow each other, or are one: what nearly all accesses are. They
// are found without a look at 32 addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "simulator/core/memory/warp_row.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

namespace detail {

// Whether each lane's value is its neighbour's and `step`, but for lane 16's.
template <class T>
[[gnu::always_inline]] inline bool steps_alike(const std::byte* slot, T step) {
  typedef T Vector __attribute__((vector_size(32)));
  constexpr int kLanes = 32 / sizeof(T);
  Vector differ{}, at_half{};
  const auto look_at = [&](int lane, Vector& found) {
    Vector here, next;
    std::memcpy(&here, slot + lane * static_cast<int>(sizeof(T)), sizeof here);
    std::memcpy(&next, slot + (lane + 1) * static_cast<int>(sizeof(T)), sizeof next);
    found |= (next - here) ^ step;
  };
#pragma GCC unroll 8
  for (int lane = 0; lane + kLanes < kWarpSize; lane += kLanes)
    look_at(lane, lane + kLanes == kWarpSize / 2 ? at_half : differ);
  look_at(kWarpSize - 1 - kLanes, differ);
  at_half[kLanes - 1] = 0;
  differ |= at_half;
  uint64_t parts[4];
  std::memcpy(parts, &differ, sizeof parts);
  return (parts[0] | parts[1] | parts[2] | parts[3]) == 0;
}

}  // namespace detail

// For elements of `bytes`: of lanes that lie neither at one place nor one behind the other it says
// no more than that.
[[gnu::always_inline]] inline WarpRow warp_row(const Exec& x, const Slot& base, int64_t offset,
                                               unsigned bytes) {
  const auto add = static_cast<uint64_t>(offset);
  const std::byte* const b = x.regs + base.offset;
  constexpr int kHalf = kWarpSize / 2;
  if (base.bytes == 8) {
    const auto first = load_lane<uint64_t>(b, 0), step = load_lane<uint64_t>(b, 1) - first;
    if ((step != 0 && step != bytes) || !detail::steps_alike(b, step)) return {};
    return {{first + add, load_lane<uint64_t>(b, kHalf) + add}, step};
  }
  if (base.bytes == 4) {
    const auto lane0 = load_lane<uint32_t>(b, 0), step = load_lane<uint32_t>(b, 1) - lane0;
    if ((step != 0 && step != bytes) || !detail::steps_alike(b, step)) return {};
    const auto more = static_cast<uint32_t>(add);
    const uint32_t first = lane0 + more, second = load_lane<uint32_t>(b, kHalf) + more;
    // 32 bits wrap.
    const uint32_t last = std::max(first, second);
    if (last + (kHalf - 1) * step < last) return {};
    return {{first, second}, step};
  }
  return {{add, add}, 0};
}

}  // namespace lab32::sim
