// The result of compiling one CUDA source: PTX for the simulator, a cubin for the GPU, the SASS
// listing and register counts for the counters. compile() (nvcc.h) and assemble() (machine_code.h)
// make it, and Device::load() takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace lab32::toolchain {

// Maps a line of the PTX to the source position of the instructions from that line on.
using Places = std::map<int, std::pair<std::string, int>>;

struct CompiledArtifact {
  std::string source;  // path of the .cu, as the user gave it
  std::string arch;    // "sm_90"
  std::string ptx;     // from nvcc -ptx -lineinfo, with the user's paths
  // The file name to use for positions if `ptx` has no line information; empty if its instructions
  // are to have no positions then.
  std::string name;
  Places places;      // for such a text; lines not listed get `name` and their PTX line
  std::string cubin;  // the binary, for the GPU and for nvdisasm
  // The output of nvdisasm -c -gi -gp -hex with the user's paths; empty when there is no nvdisasm
  // (all counts are then PTX-level). Besides `//## File "x.cu", line 3` (and its ` inlined at
  // "x.cu", line 9`) it has `//## File ".nv_debug_ptx_txt", line 38`: the line of `ptx` from which
  // the next instructions come.
  std::string sass;
  std::map<std::string, uint32_t> registers;  // per kernel (mangled): registers a thread
  // Addresses of variables (mangled) that are already placed: managed variables, on every device
  // but the first.
  std::map<std::string, uint64_t> placed;
  std::string warnings;  // the compilers' own text, with the user's paths
  // Compiles the same text with nvcc -G -ptx, for the types of its variables; "" if that fails.
  // Null: there is no source.
  std::function<std::string()> debug_ptx = {};
};

// The device memory that all .global and .const variables of nvcc's PTX need together; at most 2^64
// - 1. (A cubin keeps 32 bits of a size.)
uint64_t variable_bytes(const std::string& ptx);

}  // namespace lab32::toolchain
