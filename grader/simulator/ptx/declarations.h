// Parses PTX declarations: variables with their types, sizes and initialisers, and parameter lists.
// Each function reads from the cursor and throws Diagnostic on a syntax error.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/ptx/lexer.h"
#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Parses what follows `.global`, `.shared`, …: `.align 8 .b8 name[4][2] = {…}, other`, up to the
// character that ends the declaration, which is left for the caller.
std::vector<Variable> parse_variables(Cursor& cursor, Space space, bool is_extern);

// Parses `(.param .b64 a, .param .align 8 .b8 b[16])`. Names may be `_` (in prototypes).
std::vector<Variable> parse_parameters(Cursor& cursor);

// The space of a directive such as ".global"; Space::generic if it declares no variables.
Space space_of_directive(std::string_view word);

}  // namespace lab32::ptx
