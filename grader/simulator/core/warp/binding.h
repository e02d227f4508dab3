// What the decoder asks of an instruction besides its operands.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/control_flow.h"

namespace lab32::sim {

Dispatch flow_of(const ptx::Traits& traits);
// The function that executes it: pick_<row>.
ExecFn pick(const ptx::Instruction& in);
// %clock and its like change while a kernel runs; other special registers are filled in beforehand.
bool is_dynamic_special(ptx::SpecialReg reg);
// Where shared memory lies that the system has reserved.
bool is_reserved_shared(ptx::SpecialReg reg);
// Inst::run of a function's instructions.
void find_runs(const ptx::ControlFlow& flow, std::vector<Inst>& code);
// Where the lanes of a function meet whose code is complete.
void mark_meetings(const ptx::ControlFlow& flow, CodeFunction& function);
// Whether any instruction of the function reads a result of it.
bool is_result_read(const ptx::Function& function, const ptx::Instruction& in);
// Whether the blocks must run in order for it to give one result (order_guard.h).
bool needs_block_order(const ptx::Instruction& in, const Inst& decoded);
// How it is issued: as `own`, the plans of its function, say at `index`; null: there are none.
AccessPlan plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index);

}  // namespace lab32::sim
