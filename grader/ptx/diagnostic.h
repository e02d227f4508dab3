// How complaints about PTX are worded and shown: the PTX line, the source line it came from, and
// a caret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ptx/module.h"

namespace lab32::ptx {

// Thrown inside the parser; leaves it as an Error, or as the refusal of one function.
struct Complaint {
  size_t offset;  // in Module::text
  std::string message;
};

// PTX line 57: `wmma.load.a.sync` is not supported by the simulator (source: reduction.cu:31)
//   wmma.load.a.sync {%r1}, [%rd4], %r3;
//   ^
// No source part without line information (loc -1). Needs Module::files, which PTX lists at the
// end: render only when the whole module is read.
std::string render(const Module& module, const Complaint& complaint, int loc);

// 1-based line of an offset.
int line_of(std::string_view text, size_t offset);

// A mangled C++ name as it stands in the source; other names unchanged.
std::string demangle(const std::string& name);

}  // namespace lab32::ptx
