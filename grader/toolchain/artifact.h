// What compiling one CUDA source gives: everything a Device needs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace lab32::toolchain {

// A line of PTX -> where in the source the instructions from there on stand.
using Places = std::map<int, std::pair<std::string, int>>;

struct Artifact {
  std::string source;  // path of the .cu as the user gave it
  std::string arch;    // "sm_90"
  std::string ptx;     // nvcc -ptx -lineinfo, paths mapped back to the user's
  std::string name;    // of the PTX, where it has no line information; empty: it goes without
  Places places;       // likewise; what they leave out has the PTX's name and line
  std::string cubin;   // bytes, for the GPU and for sass
  // nvdisasm -c -gi -gp -hex text, paths mapped back likewise; empty when there is no nvdisasm
  // (then all is PTX-level). Besides `//## File "x.cu", line 3` (and its ` inlined at "x.cu", line
  // 9`) it has `//## File ".nv_debug_ptx_txt", line 38`: the line of `ptx` that the instructions
  // below stem from.
  std::string sass;
  std::map<std::string, uint32_t> registers;  // kernel (mangled) -> registers a thread, from ptxas
  // Variables (mangled) that lie somewhere already: managed ones, on another device than the first.
  std::map<std::string, uint64_t> placed;
  std::string warnings;  // of the compilers, as they wrote them, with the user's paths
  // nvcc -G -ptx of the same text, for the types of its variables; compiled when called, and empty
  // where that fails. Null: there is no source.
  std::function<std::string()> debug_ptx = {};
};

// How much device memory all .global and .const variables of nvcc's PTX take together; at most
// 2^64 - 1. (A cubin keeps 32 bits of a size.)
uint64_t variable_bytes(const std::string& ptx);

}  // namespace lab32::toolchain
