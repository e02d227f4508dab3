// What a kernel can reach: the functions it may call, and the shared memory they declare.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

struct Reach {
  std::vector<const ptx::Function*> functions;  // [0] is the kernel
  // So many of them are named by the kernel, or by what it calls. The others stand in tables of
  // function pointers that it may call through.
  size_t by_name = 0;
};
// Throws lab32::Error with the refusal of a function by name that cannot run.
Reach find_functions(const ptx::Module& module, const ptx::Function& kernel);

struct SharedLayout {
  std::unordered_map<std::string, uint32_t> offset;  // by variable
  std::vector<SharedVariable> variables;
  uint32_t static_bytes = 0, dynamic_offset = 0;
};
SharedLayout lay_out_shared(const ptx::Module& module,
                            const std::vector<const ptx::Function*>& functions);

}  // namespace lab32::sim
