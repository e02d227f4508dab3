// Addresses of a warp's memory instruction, shared by all instructions that access memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "simulator/core/semantics/lanes.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// base register (or nothing) + constant, for all lanes; inactive lanes hold anything.
inline void lane_addresses(const Exec& x, const Slot& base, int64_t offset, uint64_t* out) {
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

// Where its modifiers say that the address lies.
inline ptx::Space space_of(const ptx::Instruction& in) {
  using ptx::Mod;
  if (in.has(Mod::global)) return ptx::Space::global;
  if (in.has(Mod::shared) || in.has(Mod::shared_cta) || in.has(Mod::shared_cluster))
    return ptx::Space::shared;
  if (in.has(Mod::local)) return ptx::Space::local;
  if (in.has(Mod::constant)) return ptx::Space::constant;
  return ptx::Space::generic;
}

// The lanes of `mask` whose generic address lies in the window at `base`.
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

}  // namespace lab32::sim
