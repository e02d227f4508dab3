// Shifts by more bits than there are, shuffles by more lanes than a warp has, and both by negative
// amounts: hardware has a result, C++ has none, and nobody means it.
#pragma once

#include <cstdint>

#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct OddAmount {
  uint64_t block = 0;  // linear index, of the first
  uint32_t site = 0;
  bool shuffle = false;  // else a shift
  uint32_t amount = 0;
  uint32_t limit = 0;  // bits or lanes: amounts are smaller
};

// A lane executes `in` with such an amount: the first of a block is kept.
void note_odd_amount(const Exec& x, const Inst& in, bool shuffle, uint32_t amount, uint32_t limit);

}  // namespace lab32::sim
