// decode() turns a kernel of a parsed module into a KernelProgram, which warps can execute.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

// Decodes `kernel` and all functions that it can reach. Functions that are missing in `plans` (by
// function name) are issued as the PTX says. `param_address`: the device address where launches
// store the parameters. `heap`: launches will have a heap, so malloc() and free() may be called.
// Throws lab32::Error, with line and source, for anything that the simulator lacks.
std::unique_ptr<KernelProgram> decode(const ptx::Module& module, const ptx::Function& kernel,
                                      const SymbolTable& symbols, uint64_t param_address,
                                      const std::map<std::string, FunctionPlans>& plans,
                                      bool heap = false);

// ---------------------------------------------------------------------------------------------
// Finds kernels that cannot run, without decoding them, for a quick list of a module's kernels.

// Returns the reason by the kernel's symbol, in the words of decode(): refusals of the parser,
// forms of instructions that the simulator lacks, and calls of functions that are not defined.
// decode() may find more (operands). `heap`: as in decode().
std::map<std::string, std::string> unsupported_reasons_by_kernel(const ptx::Module& module,
                                                                 bool heap);

}  // namespace lab32::sim
