// Prints a Module as PTX text that parses to an equal Module, and single instructions for messages.
#pragma once

#include <string>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// One instruction as in PTX, without its label: "@%p1 add.s32 %r1, %r2, 3;". Branch targets are the
// labels that print(module) makes. The opcode is printed from its row's pattern.
std::string print(const Function& function, const Instruction& in);

// The opcode alone: "ld.global.nc.v4.f32".
std::string print_opcode(const Instruction& in);

// Prints a whole module. Initialisers become bytes, and a refused function becomes a declaration
// with its refusal as a comment, since a Module does not contain its body.
std::string print(const Module& module);

}  // namespace lab32::ptx
