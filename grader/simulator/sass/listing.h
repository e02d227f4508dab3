// Parses the output of `nvdisasm -c -gi -gp -hex CUBIN` into a Disassembly.
//
// -gp makes SASS and PTX comparable: with -lineinfo ptxas records for each instruction the PTX line
// from which it comes (section .nv_debug_line_sass). The PTX must be the exact text that ptxas
// read, which nvcc --keep preserves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lab32::sass {

// A line of the CUDA source. In a list of frames the innermost comes first; the call sites at which
// it was inlined follow.
struct SassSourceLine {
  std::string file;
  int line = 0;
};

// The scheduling control of an instruction: five fields of its encoding (Jia et al., "Dissecting
// the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, 2.1).
struct SassControlCode {
  bool known = false;     // the listing contains the encoding
  uint8_t stall = 0;      // cycles until the next instruction of the warp may be issued
  int8_t write = -1;      // one of six barriers, which is set until the result is written; -1: none
  int8_t read = -1;       // the barrier that is set until the operands have been read; -1: none
  uint8_t waits_for = 0;  // barriers that must be clear before the issue, one bit each
};

struct SassInstruction {
  uint32_t address = 0;  // in bytes, from the start of the kernel
  std::string guard;     // "P0", "!P0", "!UP1"; empty: none
  std::string opcode;    // with its modifiers: "LDG.E.128"
  std::string operands;  // as written: "R4, desc[UR4][R2.64+0xc]"
  int ptx_line = 0;      // 0: not known
  int source = -1;       // index in Disassembly::sources, -1: not known
  SassControlCode control;

  std::string_view base() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  // Whether the modifier is among the opcode's words after the first, as SPIN in ATOMS.CAST.SPIN.
  bool has(std::string_view modifier) const;
  // Whether the guard is never true: ptxas emits `@!PT LDS RZ, [RZ]` where a pipeline needs an
  // empty slot.
  bool never_runs() const { return guard == "!PT" || guard == "!UPT"; }
};

struct SassFunction {
  std::string name;  // mangled; a function inside a kernel: "$kernel$function"
  // Mangled name of the kernel whose ELF section contains this code (perhaps the function itself).
  std::string kernel;
  std::vector<SassInstruction> code;
  std::map<std::string, int, std::less<>> labels;  // label -> index in code of the next instruction
};

struct Disassembly {
  std::vector<SassFunction> functions;
  std::vector<std::vector<SassSourceLine>> sources;

  const SassFunction* find(std::string_view name) const;
};

// Throws Error when the text is no listing of nvdisasm.
Disassembly parse_disassembly(const std::string& text);

}  // namespace lab32::sass
