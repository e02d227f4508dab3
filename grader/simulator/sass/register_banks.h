// Which half of the register file an instruction's operands are read from. Registers with even
// numbers lie in one, odd ones in the other, and each gives one operand a cycle; an operand marked
// ".reuse" stays where it is for the instruction behind (Huerta et al., "Analyzing Modern NVIDIA
// GPU Cores", 2025; data/measured/h200-mix.csv).
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "simulator/sass/listing.h"

namespace lab32::sass {

// Of instructions that stand one behind the other.
class RegisterBanks {
 public:
  // Operands that it reads of even registers, and of odd ones.
  std::array<uint8_t, 2> reads(const Instruction& in);

 private:
  std::map<int, int> kept_;  // by the operand's place
};

}  // namespace lab32::sass
