// One element of each lane between memory and a register: the loops that all loads and stores
// share.
#pragma once

#include <cstring>
#include <type_traits>

#include "simulator/core/execute/address.h"
#include "simulator/core/memory/contiguous.h"

namespace lab32::sim {

struct Wide {  // .b128
  uint64_t low, high;
};

// Where lane l's byte of address a is: base + a + l * stride.
struct Place {
  std::byte* base;
  size_t stride;
};

// One element of each lane from memory into a register, extended to the register's width.
template <class Mem, class Reg>
void read_lanes(const Place& place, const uint64_t* address, unsigned offset, std::byte* slot,
                uint32_t mask) {
  for (uint32_t r = mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    Mem value;
    std::memcpy(&value, place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                sizeof value);
    store_lane<Reg>(slot, l, static_cast<Reg>(value));
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
  for (uint32_t r = x.mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    std::memcpy(place.base + address[l] + offset + static_cast<size_t>(l) * place.stride,
                slot + l * from.bytes, sizeof(Mem));
  }
}

// PTX ISA: a vector has at most 16 bytes (32 on sm_100 and later, which this simulator lacks).
inline void check_vector(const ptx::Instruction& in) {
  const unsigned elements = in.has(ptx::Mod::v4) ? 4 : in.has(ptx::Mod::v2) ? 2 : 1;
  if (elements * ptx::bytes_of(in.type()) > 16) refuse(in, "a vector of more than 16 bytes");
}

}  // namespace lab32::sim
