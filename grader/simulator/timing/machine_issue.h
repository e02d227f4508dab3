// What an instruction of the machine keeps busy, by its opcode as nvdisasm prints it.
#pragma once

#include <string_view>

#include "simulator/timing/warp_trace.h"
#include "simulator/timing/work.h"

namespace lab32::model {

// "LDS.128", "IMAD.MOV.U32"
IssueSlots machine_issue(std::string_view opcode);

// The same of a warp's way (warp_trace.h): who takes it, and how long a dependent one waits. What
// memory does with it is left open.
TraceInstruction machine_instruction(std::string_view opcode);

}  // namespace lab32::model
