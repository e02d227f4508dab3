// Registers that an instruction of the machine code reads and writes, by its operands' text.
#pragma once

#include <vector>

#include "simulator/sass/listing.h"

namespace lab32::sass {

// Numbers of registers: R0 and on, UR0 and on, P0 and on, UP0 and on.
constexpr int kUniformRegisters = 256, kPredicates = 320, kUniformPredicates = 328,
              kRegisters = 336;

struct Operands {
  std::vector<int> reads, writes;
};

Operands operands_of(const Instruction& in);

}  // namespace lab32::sass
