// Finds kernels that cannot run, without decoding them, for a quick list of a module's kernels.
#pragma once

#include <map>
#include <string>

#include "simulator/ptx/module.h"

namespace lab32::sim {

// Returns the reason by the kernel's symbol, in the words of decode(): refusals of the parser,
// forms of instructions that the simulator lacks, and calls of functions that are not defined.
// decode() may find more (operands). `heap`: as in decode().
std::map<std::string, std::string> quick_refusals(const ptx::Module& module, bool heap);

}  // namespace lab32::sim
