// Registers that an instruction of the machine code reads and writes, by its operands' text.
#pragma once

#include "simulator/sass/emitted.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

// Fills in to.reads and to.writes.
void note_registers(const Instruction& in, EmittedInstruction& to);

}  // namespace lab32::sass
