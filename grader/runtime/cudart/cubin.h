// What ptxas says of each kernel of a cubin: what occupancy and cudaFuncGetAttributes need.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace lab32::cudart {

struct Resources {
  uint32_t registers = 0;    // a thread
  uint32_t local_bytes = 0;  // a thread: its stack frame
};

struct CubinInfo {
  std::map<std::string, Resources> kernels;  // by symbol
  uint32_t constant_bytes = 0;               // of the module's __constant__ variables
};

// Throws Error when it is no cubin.
CubinInfo read_cubin(const std::string& cubin);

}  // namespace lab32::cudart
