// The operands of SASS instructions: the registers that an instruction reads and writes, the
// register banks from which it reads, and its memory access. All are derived from the text of the
// listing.
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

// The first number of each kind of register: R0 has number 0, and UR0, P0 and UP0 have these
// numbers.
constexpr int kUniformRegisters = 256, kPredicates = 320, kUniformPredicates = 328,
              kRegisters = 336;

struct RegisterOperands {
  std::vector<int> reads, writes;
};

RegisterOperands operands_of(const SassInstruction& in);

// Counts the operands that an instruction reads from each half of the register file. Registers with
// even numbers are in one half, odd ones in the other, and each half delivers one operand per
// cycle; an operand marked ".reuse" stays available for the next instruction (Huerta et al.,
// "Analyzing Modern NVIDIA GPU Cores", 2025; data/measured/model/h200-mix.csv). Call
// operands_by_bank() for consecutive instructions.
class RegisterBanks {
 public:
  // The number of operands from even registers, and from odd ones.
  std::array<uint8_t, 2> operands_by_bank(const SassInstruction& in);

 private:
  std::map<int, int> kept_;  // operand position -> register
};

// ---- memory ----

enum class MemorySpace : uint8_t { global, shared, local, generic };

struct MemoryOp {
  MemorySpace space = MemorySpace::global;
  sim::AccessKind kind = sim::AccessKind::load;
  // Bytes per lane; 16 for a row of a matrix; 0: the table does not contain the width.
  int bytes = 4;
  bool matrix = false;      // LDSM, STSM
  bool async_copy = false;  // LDGSTS; the other members describe its access to device memory
  std::string base;         // the address without its constant: "R2.64", "R6+UR4"
  int64_t offset = 0;       // the constant
};

// The memory access of the instruction; nullopt: it accesses no global, shared or local memory.
// (LDC and similar instructions read constants, which no counter includes.)
std::optional<MemoryOp> memory_op(const SassInstruction& in);

}  // namespace lab32::sass
