// What ends a kernel early. Thrown by instructions, caught by the launch, which adds the position.
#pragma once

#include <cstdint>
#include <string>

namespace lab32::sim {

struct Trap {
  std::string kind;     // as device::Fault::kind
  std::string message;  // "thread (5,0,0) of block (0,0,0) reads 4 bytes …"
  uint32_t site = 0;    // instruction, index in KernelProgram::sites
  bool has_site = true;
  uint64_t block = 0;  // linear index; the launch keeps the lowest
};

// Raised in a parallel run when a result may depend on the order of the blocks: the launch undoes
// what was written and runs the blocks one after another.
struct OrderMatters {};

}  // namespace lab32::sim
