// Computes which bits of an instruction's results are undefined, from the undefined bits of its
// sources.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// The bits of one lane's register, at most 128; a predicate uses the lowest bit.
struct LaneBits {
  uint64_t low = 0, high = 0;
  bool any() const { return (low | high) != 0; }
  uint8_t byte(unsigned i) const {
    return static_cast<uint8_t>(i < 8 ? low >> 8 * i : high >> 8 * (i - 8));
  }
};

LaneBits get_bits(const std::byte* file, const Slot& slot, int lane);
void set_bits(std::byte* file, const Slot& slot, int lane, LaneBits bits);
LaneBits all_bits(const Slot& slot);

using UndefinedResults = std::array<std::array<LaneBits, kWarpSize>, 4>;

// The caller calls this before it executes the instruction. `undefined` has the layout of the
// register file, which stays unchanged. The result is exact for moves, selections, logic, shifts
// and comparisons for equality. In sums and products an undefined bit affects itself and all higher
// bits. For any other instruction each bit of the result may depend on each bit of the sources.
UndefinedResults undefined_results(const Exec& x, const Inst& in, const std::byte* undefined);

}  // namespace lab32::sim
