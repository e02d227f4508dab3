// The listing of a cubin that was linked, made to say lines of the linked PTX.
#pragma once

#include <map>
#include <string>

namespace lab32::cudart {

// nvdisasm -gp says for each instruction the line of its own file's PTX, which it calls
// ".nv_debug_ptx_txt.NUMBER", a number for each file. `lines_before` says for functions by how much
// lines of their file are later in the linked PTX (ptx::Linked); empty: it was not linked, and the
// listing stays as it is.
std::string in_linked_lines(const std::string& listing,
                            const std::map<std::string, int>& lines_before);

}  // namespace lab32::cudart
