// Links several relocatable PTX modules into the text of one module, as nvlink does with cubins.
// The simulator then loads that text like a single compilation.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32::ptx {

struct LinkedPtx {
  std::string text;
  // For each function: line n of the input text that defines it is line n + offset of `text`.
  // (ptxas records lines of each file's own PTX.)
  std::map<std::string, int> lines_before;
};

// Links the outputs of `nvcc -rdc=true` in the given order. An `.extern` finds its definition in
// another text. If several `.weak` definitions exist (templates, inline functions) the first is
// kept, or a strong one. A name that is neither `.visible` nor `.weak` belongs to its own file, and
// gets a suffix if another file uses the same name. Line information is kept. Names that no file
// defines stay `.extern`. Throws Error for a text that is no PTX, and for two strong definitions of
// a name.
LinkedPtx link_ptx(const std::vector<std::string>& texts);

}  // namespace lab32::ptx
