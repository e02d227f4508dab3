// How diagnostics about PTX are shown: the PTX line, the source line it came from, and
// a caret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Thrown inside the parser; leaves it as an Error, or as the refusal of one function.
struct Diagnostic {
  size_t offset;  // in Module::text
  std::string message;
};

// PTX line 57: `wmma.load.a.sync` is not supported by the simulator (source: reduction.cu:31)
//   wmma.load.a.sync {%r1}, [%rd4], %r3;
//   ^
// No source part without line information (loc -1). Needs Module::files, which PTX lists at the
// end: render only when the whole module is read.
std::string render(const Module& module, const Diagnostic& diagnostic, int loc);

// 1-based line of an offset.
int line_of(std::string_view text, size_t offset);

}  // namespace lab32::ptx
