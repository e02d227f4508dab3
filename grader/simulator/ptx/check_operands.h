// Whether the operands of an instruction are what its row of opcodes.def asks for.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/ptx/module_parser.h"

namespace lab32::ptx {

// Throws Diagnostic at the first operand that does not fit. `operands` already has an entry for
// each slot of the row, Kind::none where an optional one was left out.
void check_operands(const Function& function, const Instruction& in, std::string_view opcode,
                    const std::vector<ParsedOperand>& operands);

}  // namespace lab32::ptx
