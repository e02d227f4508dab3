// PTX -> machine code of one card, by the installed ptxas.
#pragma once

#include <string>

#include "toolchain/artifact.h"

namespace lab32::toolchain {

// `ptx` is our own: it is not confined, and an error in it is no submission's (MachineError). The
// artifact has no SASS and no registers. The same text is assembled once.
Artifact assemble(const std::string& ptx, const std::string& arch, const std::string& name);

}  // namespace lab32::toolchain
