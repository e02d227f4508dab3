// From a parsed module to something that runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// Decodes `kernel` and what it can reach. `plans` (by function name) may lack functions: those are
// issued as the PTX says. `param_address`: where launches put the parameters. Throws lab32::Error,
// with line and source, for what the simulator does not have. `heap`: launches will have a heap, so
// that malloc() and free() may be called.
std::unique_ptr<KernelProgram> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const SymbolTable& symbols, uint64_t param_address,
                                      const std::map<std::string, FunctionPlans>& plans,
                                      bool heap = false);

}  // namespace lab32::sim
