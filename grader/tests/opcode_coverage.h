// Which rows of opcodes.def the tests of this run have executed; test_zz_opcode_coverage.cpp
// demands all of them at the end.
#pragma once

#include <bitset>

#include "ptx/module.h"

namespace lab32::tests {

using CoveredOps = std::bitset<static_cast<size_t>(ptx::OpId::count_)>;

inline CoveredOps& covered_ops() {
  static CoveredOps ops;
  return ops;
}

inline void covered(ptx::OpId id) { covered_ops().set(static_cast<size_t>(id)); }

// For a test that runs a whole program and checks what it computes.
inline void covered(const ptx::Module& module) {
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& instruction : function.body) covered(instruction.op->id);
  }
}

}  // namespace lab32::tests
