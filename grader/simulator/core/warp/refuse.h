// The refusal of an instruction that matches a row of opcodes.def but that the PTX ISA does not
// have in this combination of modifiers, types and operands.
#pragma once

#include <string>

#include "simulator/ptx/module.h"

namespace lab32::sim {

// "add.rn.sat.f64": the opcode as it stood in the text.
std::string spelling(const ptx::Instruction& in);

// Throws lab32::Error: "add.sat.f64: <why>"; without a reason, that the PTX ISA has no such form.
[[noreturn]] void refuse(const ptx::Instruction& in, const std::string& why = "");

// "PTX line 12: <why> (source: a.cu:3)", without the end where no line is known.
std::string in_source(const ptx::Module& module, const ptx::Instruction& in,
                      const std::string& why);

}  // namespace lab32::sim
