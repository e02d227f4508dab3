// Why kernels cannot run, without decoding them.
#pragma once

#include <map>
#include <string>

#include "simulator/ptx/module.h"

namespace lab32::sim {

// By the kernel's symbol, in decode()'s words: what parsing refused, forms of instructions that the
// simulator does not have, calls of functions that nobody has. decode() may find more (operands).
// `heap`: as there.
std::map<std::string, std::string> quick_refusals(const ptx::Module& module, bool heap);

}  // namespace lab32::sim
