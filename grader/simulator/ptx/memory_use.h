// Of one instruction: the memory that its row says it uses.
#pragma once

#include <cstddef>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// The state space of its mem operand number `use`: the row's, or the one that a modifier names;
// generic where neither does.
Space memory_space(const Instruction& in, size_t use);

// Bytes of the pieces that a lane moves: vectors move several, a lane of a matrix access a row.
unsigned element_bytes(const Instruction& in);

}  // namespace lab32::ptx
