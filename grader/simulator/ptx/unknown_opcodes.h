// A look at PTX that costs a twelfth of parsing it.
#pragma once

#include <string_view>

namespace lab32::ptx {

// Whether a statement may begin with an opcode that opcodes.def has no row for. True for some texts
// that have none (C++ in a comment), false for none that parse() would find one in.
bool may_have_unknown_opcodes(std::string_view text);

}  // namespace lab32::ptx
