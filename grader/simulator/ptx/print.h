// Module -> PTX text that parses to an equal Module.
#pragma once

#include <string>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// One instruction as in PTX, without its label: "@%p1 add.s32 %r1, %r2, 3;". Branch targets are
// written as the labels that print(module) makes. The opcode is written from its row's pattern.
std::string print(const Function& function, const Instruction& in);

// The opcode alone: "ld.global.nc.v4.f32".
std::string print_opcode(const Instruction& in);

// Variables come out as bytes, and a refused function as a declaration with its refusal as a
// comment: what a Module does not hold cannot be printed.
std::string print(const Module& module);

}  // namespace lab32::ptx
