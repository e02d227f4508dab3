// What an instruction of the machine code reads and writes: registers, banks of them, memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

// ---- registers, by the text of the operands ----

// Numbers of registers: R0 and on, UR0 and on, P0 and on, UP0 and on.
constexpr int kUniformRegisters = 256, kPredicates = 320, kUniformPredicates = 328,
              kRegisters = 336;

struct Operands {
  std::vector<int> reads, writes;
};

Operands operands_of(const Instruction& in);

// Which half of the register file an instruction's operands are read from. Registers with even
// numbers lie in one, odd ones in the other, and each gives one operand a cycle; an operand marked
// ".reuse" stays where it is for the instruction behind (Huerta et al., "Analyzing Modern NVIDIA
// GPU Cores", 2025; data/measured/model/h200-mix.csv). For instructions that stand one behind the
// other.
class RegisterBanks {
 public:
  // Operands that it reads of even registers, and of odd ones.
  std::array<uint8_t, 2> reads(const Instruction& in);

 private:
  std::map<int, int> kept_;  // by the operand's place
};

// ---- memory ----

enum class MemorySpace : uint8_t { global, shared, local, generic };

struct MemoryOp {
  MemorySpace space = MemorySpace::global;
  sim::AccessKind kind = sim::AccessKind::load;
  int bytes = 4;            // per lane; matrices: a row, 16. 0: a width this table does not know
  bool matrix = false;      // LDSM, STSM
  bool async_copy = false;  // LDGSTS: the global side
  std::string base;         // the address without its constant: "R2.64", "R6+UR4"
  int64_t offset = 0;       // the constant
};

// nullopt: it does not touch global, shared or local memory (LDC and its kind read constants, which
// no counter of ours counts).
std::optional<MemoryOp> memory_op(const Instruction& in);

}  // namespace lab32::sass
