// Helpers of all instructions that access memory: the computation of the lanes' addresses, a fast
// path for warps whose addresses are contiguous or equal, and the loops that move one element for
// each lane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/core/memory/access.h"
#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// Computes base register + constant for all 32 lanes; an absolute address has no base register.
// Entries of inactive lanes are arbitrary.
inline void lane_addresses(const ExecContext& x, const RegisterSlot& base, int64_t offset,
                           uint64_t* out) {
  const auto add = static_cast<uint64_t>(offset);
  if (base.bytes == 8) {
    const std::byte* b = x.regs + base.offset;
    for (int l = 0; l < kWarpSize; ++l) out[l] = load_lane<uint64_t>(b, l) + add;
  } else if (base.bytes == 4) {
    const std::byte* b = x.regs + base.offset;
    for (int l = 0; l < kWarpSize; ++l)
      out[l] = static_cast<uint32_t>(load_lane<uint32_t>(b, l) + static_cast<uint32_t>(add));
  } else {
    for (int l = 0; l < kWarpSize; ++l) out[l] = add;
  }
}

// The state space that the instruction's modifiers name.
inline ptx::Space space_of(const ptx::Instruction& in) {
  using ptx::Modifier;
  if (in.has(Modifier::global)) return ptx::Space::global;
  if (in.has(Modifier::shared) || in.has(Modifier::shared_cta) || in.has(Modifier::shared_cluster))
    return ptx::Space::shared;
  if (in.has(Modifier::local)) return ptx::Space::local;
  if (in.has(Modifier::constant)) return ptx::Space::constant;
  return ptx::Space::generic;
}

// The lanes of `mask` whose generic address is in the window at `base`.
inline uint32_t lanes_in_window(const uint64_t* address, uint32_t mask, uint64_t base) {
  uint32_t in = 0;
  for (int l = 0; l < kWarpSize; ++l)
    in |= static_cast<uint32_t>(address[l] - base < kWindowBytes) << l;
  return in & mask;
}

inline const char* space_name(AccessSpace space) {
  switch (space) {
    case AccessSpace::global:
      return "global";
    case AccessSpace::shared:
      return "shared";
    case AccessSpace::local:
      return "local";
    case AccessSpace::constant:
      return "constant";
  }
  return "";
}

// ---------------------------------------------------------------------------------------------
// Most accesses of a whole warp go to contiguous addresses or to one address. These functions
// recognise both cases without computing 32 addresses.

namespace detail {

// Whether each lane's value exceeds the preceding lane's by `step`. The step from lane 15 to lane
// 16 may differ.
template <class T>
[[gnu::always_inline]] inline bool has_constant_step(const std::byte* slot, T step) {
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

// The StridedHalfWarpPair of a warp's addresses for elements of `bytes`: stride 0 if all lanes of
// a half-warp access one address, `bytes` if they are contiguous, else irregular.
[[gnu::always_inline]] inline StridedHalfWarpPair strided_addresses_of_warp(
    const ExecContext& x, const RegisterSlot& base, int64_t offset, unsigned bytes) {
  const auto add = static_cast<uint64_t>(offset);
  const std::byte* const b = x.regs + base.offset;
  constexpr int kHalf = kWarpSize / 2;
  if (base.bytes == 8) {
    const auto first = load_lane<uint64_t>(b, 0), step = load_lane<uint64_t>(b, 1) - first;
    if ((step != 0 && step != bytes) || !detail::has_constant_step(b, step)) return {};
    return {{first + add, load_lane<uint64_t>(b, kHalf) + add}, step};
  }
  if (base.bytes == 4) {
    const auto lane0 = load_lane<uint32_t>(b, 0), step = load_lane<uint32_t>(b, 1) - lane0;
    if ((step != 0 && step != bytes) || !detail::has_constant_step(b, step)) return {};
    const auto more = static_cast<uint32_t>(add);
    const uint32_t first = lane0 + more, second = load_lane<uint32_t>(b, kHalf) + more;
    // 32 bits wrap.
    const uint32_t last = std::max(first, second);
    if (last + (kHalf - 1) * step < last) return {};
    return {{first, second}, step};
  }
  return {{add, add}, 0};
}

// ---------------------------------------------------------------------------------------------
// The loops of all loads and stores: they move one element for each lane between memory and a
// register.

struct Wide {  // .b128
  uint64_t low, high;
};

// Host memory of a state space: lane l finds the byte at address a at base + a + l * stride.
struct StridedLaneMemory {
  std::byte* base;
  size_t stride;
};

// Checks an access, reports it to the observers and returns the host memory behind it. `address` is
// relative to the beginning of the space.
StridedLaneMemory check_and_report_access(const ExecContext& x, const Inst& in, ptx::Space where,
                                          uint64_t* address, unsigned bytes, bool store);

inline AccessSpace access_space_of(ptx::Space where) {
  return where == ptx::Space::shared  ? AccessSpace::shared
         : where == ptx::Space::local ? AccessSpace::local
                                      : AccessSpace::global;
}

// Splits generic addresses by window: calls f for the lanes in shared, in local and in global
// memory.
template <class F>
void for_each_window(const ExecContext& x, uint64_t* address, F f) {
  const uint32_t shared = lanes_in_window(address, x.mask, kSharedBase);
  const uint32_t local = lanes_in_window(address, x.mask, kLocalBase);
  const uint32_t global = x.mask & ~shared & ~local;
  alignas(64) uint64_t own[kWarpSize];
  auto part = [&](uint32_t mask, uint64_t base, ptx::Space where) {
    if (!mask) return;
    for (int l = 0; l < kWarpSize; ++l) own[l] = address[l] - base;
    f(ExecContext{x.regs, mask, x.warp}, where, own);
  };
  part(shared, kSharedBase, ptx::Space::shared);
  part(local, kLocalBase, ptx::Space::local);
  part(global, 0, ptx::Space::global);
}

// Reads one element for each lane into a register and extends it to the register's width.
template <class Mem, class Reg>
void read_lanes(const StridedLaneMemory& place, const uint64_t* address, unsigned offset,
                std::byte* slot, uint32_t mask) {
  const auto read = [&](int l) {
    Mem value;
    std::memcpy(&value, place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                sizeof value);
    store_lane<Reg>(slot, l, static_cast<Reg>(value));
  };
  if (mask == kFullMask) {
    for (int l = 0; l < kWarpSize; ++l) read(l);
  } else {
    for (uint32_t r = mask; r; r &= r - 1) read(__builtin_ctz(r));
  }
}

template <class Mem>
void read_element(const StridedLaneMemory& place, const uint64_t* address, unsigned offset,
                  const ExecContext& x, const RegisterSlot& to) {
  if (to.bytes == 0) return;  // '_'
  std::byte* slot = x.regs + to.offset;
  if constexpr (std::is_same_v<Mem, Wide>) {
    read_lanes<Wide, Wide>(place, address, offset, slot, x.mask);
  } else {
    switch (to.bytes) {
      case 2:
        return read_lanes<Mem, uint16_t>(place, address, offset, slot, x.mask);
      case 4:
        return read_lanes<Mem, uint32_t>(place, address, offset, slot, x.mask);
      default:
        return read_lanes<Mem, uint64_t>(place, address, offset, slot, x.mask);
    }
  }
}

// A store writes only the low bytes of a register that is wider than the type.
template <class Mem>
void write_element(const StridedLaneMemory& place, const uint64_t* address, unsigned offset,
                   const ExecContext& x, const RegisterSlot& from) {
  const std::byte* slot = x.regs + from.offset;
  const auto write = [&](int l) {
    std::memcpy(place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                slot + l * from.bytes, sizeof(Mem));
  };
  if (x.mask == kFullMask) {
    for (int l = 0; l < kWarpSize; ++l) write(l);
  } else {
    for (uint32_t r = x.mask; r; r &= r - 1) write(__builtin_ctz(r));
  }
}

// PTX ISA: a vector has at most 16 bytes (32 on sm_100 and later, which this simulator lacks).
inline void check_vector_size(const ptx::Instruction& in) {
  const unsigned elements = in.has(ptx::Modifier::v4) ? 4 : in.has(ptx::Modifier::v2) ? 2 : 1;
  if (elements * ptx::bytes_of(in.type()) > 16) refuse(in, "a vector of more than 16 bytes");
}

}  // namespace lab32::sim
