// What a SASS instruction does with memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/core/warp/events.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

enum class WindowSpace : uint8_t { global, shared, local, generic };

struct MemoryOp {
  WindowSpace space = WindowSpace::global;
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
