// One element of each lane between memory and a register: the loops that all loads and stores
// share.
#pragma once

#include <cstring>
#include <type_traits>

#include "simulator/core/memory/contiguous.h"
#include "simulator/core/warp/address.h"

namespace lab32::sim {

struct Wide {  // .b128
  uint64_t low, high;
};

// Where lane l's byte of address a is: base + a + l * stride.
struct Place {
  std::byte* base;
  size_t stride;
};

// Checks an access, tells the observers, and says where the data is. `address` counts from the
// beginning of the space.
Place open_access(const Exec& x, const Inst& in, ptx::Space where, uint64_t* address,
                  unsigned bytes, bool store);

inline AccessSpace counted_space(ptx::Space where) {
  return where == ptx::Space::shared  ? AccessSpace::shared
         : where == ptx::Space::local ? AccessSpace::local
                                      : AccessSpace::global;
}

// Generic addresses: lanes go by the window their address lies in.
template <class F>
void each_window(const Exec& x, uint64_t* address, F f) {
  const uint32_t shared = lanes_in_window(address, x.mask, kSharedBase);
  const uint32_t local = lanes_in_window(address, x.mask, kLocalBase);
  const uint32_t global = x.mask & ~shared & ~local;
  alignas(64) uint64_t own[kWarpSize];
  auto part = [&](uint32_t mask, uint64_t base, ptx::Space where) {
    if (!mask) return;
    for (int l = 0; l < kWarpSize; ++l) own[l] = address[l] - base;
    f(Exec{x.regs, mask, x.warp}, where, own);
  };
  part(shared, kSharedBase, ptx::Space::shared);
  part(local, kLocalBase, ptx::Space::local);
  part(global, 0, ptx::Space::global);
}

// One element of each lane from memory into a register, extended to the register's width.
template <class Mem, class Reg>
void read_lanes(const Place& place, const uint64_t* address, unsigned offset, std::byte* slot,
                uint32_t mask) {
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
void read_element(const Place& place, const uint64_t* address, unsigned offset, const Exec& x,
                  const Slot& to) {
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

// A store writes the low bytes of the register.
template <class Mem>
void write_element(const Place& place, const uint64_t* address, unsigned offset, const Exec& x,
                   const Slot& from) {
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
inline void check_vector(const ptx::Instruction& in) {
  const unsigned elements = in.has(ptx::Mod::v4) ? 4 : in.has(ptx::Mod::v2) ? 2 : 1;
  if (elements * ptx::bytes_of(in.type()) > 16) refuse(in, "a vector of more than 16 bytes");
}

}  // namespace lab32::sim
