// The text of `nvdisasm -c -gi -gp -hex CUBIN` -> Listing.
//
// -gp is what makes SASS and PTX comparable: ptxas -lineinfo records for each instruction the line
// of the PTX it comes from (section .nv_debug_line_sass). The PTX must be the very text that ptxas
// read: nvcc --keep leaves it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lab32::sass {

// Lines of the CUDA source, innermost first; the others are the call sites it was inlined at.
struct Frame {
  std::string file;
  int line = 0;
};

// What ptxas tells the scheduler beside an instruction: five fields of its encoding (Jia et al.,
// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", 2018, 2.1).
struct Control {
  bool known = false;     // the listing had the encoding
  uint8_t stall = 0;      // cycles until the next instruction of the warp may be issued
  int8_t write = -1;      // barrier, of six, that is up until the result has come
  int8_t read = -1;       // and until its operands have been read
  uint8_t waits_for = 0;  // barriers that must be down first, one bit each
};

struct Instruction {
  uint32_t address = 0;  // in bytes, from the start of the kernel
  std::string guard;     // "P0", "!P0", "!UP1"; empty: none
  std::string opcode;    // with its modifiers: "LDG.E.128"
  std::string operands;  // as written: "R4, desc[UR4][R2.64+0xc]"
  int ptx_line = 0;      // 0: not known
  int source = -1;       // index in Listing::sources, -1: not known
  Control control;

  std::string_view base() const { return std::string_view(opcode).substr(0, opcode.find('.')); }
  bool has(std::string_view modifier) const;  // has("SPIN"): one of the words after the first
  // A guard that is never true: ptxas leaves `@!PT LDS RZ, [RZ]` where a pipeline needs a slot.
  bool never_runs() const { return guard == "!PT" || guard == "!UPT"; }
};

struct Function {
  std::string name;    // mangled; a function inside a kernel: "$kernel$function"
  std::string kernel;  // the section it stands in
  std::vector<Instruction> code;
  std::map<std::string, int, std::less<>> labels;  // index in code they stand before
};

struct Listing {
  std::vector<Function> functions;
  std::vector<std::vector<Frame>> sources;

  const Function* find(std::string_view name) const;
};

// Throws Error when the text is no listing of nvdisasm.
Listing parse_listing(const std::string& text);

}  // namespace lab32::sass
