// Several relocatable PTX modules -> the text of one, as nvlink does with cubins.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lab32::ptx {

struct Linked {
  std::string text;
  // By function that a text defines: line n of that text is line n + this in `text`. (ptxas has
  // noted the lines of each file's own PTX.)
  std::map<std::string, int> lines_before;
};

// What `nvcc -rdc=true` leaves of each source file, in the order in which they are linked. An
// `.extern` finds its definition in another text; of `.weak` definitions (templates, inline
// functions) the first stays, or the strong one; a name that is neither `.visible` nor `.weak`
// belongs to its own file, and gets a suffix where another file uses the same. Line information is
// kept. What no file defines stays `.extern`. Throws Error for a text that is no PTX, and for two
// strong definitions of a name.
Linked link(const std::vector<std::string>& texts);

}  // namespace lab32::ptx
