// Through which bits of an instruction's results undefined bits of its sources come out.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// A register of a lane; 128 bits at most. Of a predicate the lowest bit.
struct LaneBits {
  uint64_t low = 0, high = 0;
  bool any() const { return (low | high) != 0; }
};

LaneBits get_bits(const std::byte* file, const Slot& slot, int lane);
void set_bits(std::byte* file, const Slot& slot, int lane, LaneBits bits);
LaneBits all_bits(const Slot& slot);

using UndefinedResults = std::array<std::array<LaneBits, kWarpSize>, 4>;

// Before the instruction is executed; `undefined` has the layout of the register file. Exact for
// moves, selections, logic, shifts and comparisons for equality; the carry's way for sums and
// products; of anything else each bit of the result may depend on each bit of the sources.
// Registers are left as they were.
UndefinedResults undefined_results(const Exec& x, const Inst& in, const std::byte* undefined);

}  // namespace lab32::sim
