// What an instruction on fragments says: its shape and types, and where its matrices lie.
#pragma once

#include "simulator/core/isa/fragments.h"
#include "simulator/core/warp/function_slots.h"

namespace lab32::sim {

// Without slots. Throws lab32::Error for a form that the ISA does not have, or that is not
// simulated.
FragmentOp fragment_op_of(const ptx::Instruction& in);
// With its slots, but for the address of a load or store.
FragmentOp fragment_op_of(const ptx::Instruction& in, FunctionSlots& slots);

}  // namespace lab32::sim
