// Declarations: variables with their types, sizes and initialisers; parameter lists.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Behind `.global`, `.shared`, …: `.align 8 .b8 name[4][2] = {…}, other`, up to the character that
// ends it, which is left for the caller.
std::vector<Variable> parse_variables(Cursor& cursor, Space space, bool is_extern);

// `(.param .b64 a, .param .align 8 .b8 b[16])`. Names may be `_` (prototypes).
std::vector<Variable> parse_parameters(Cursor& cursor);

// Space of a directive such as ".global"; Space::generic when it is none that declares variables.
Space space_of_directive(std::string_view word);

}  // namespace lab32::ptx
