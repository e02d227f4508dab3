// The properties of an instruction that the decoder needs besides its operands: its executing
// function, its run of straight-line code, its access plan, the target of a call, and the functions
// and shared memory that a kernel can reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulator/core/warp/access_plan.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

DispatchKind dispatch_of(const ptx::InstructionTraits& traits);
// The function that executes the instruction: pick_<row>.
ExecFn pick_exec_fn(const ptx::Instruction& in);
// Whether the register's value changes while a kernel runs, as that of %clock does. The other
// special registers are filled in before the kernel runs.
bool is_time_varying_special(ptx::SpecialReg reg);
// Whether the register describes the shared memory that the system reserves.
bool is_reserved_shared_register(ptx::SpecialReg reg);
// Sets Inst::run of a function's instructions.
void find_straight_line_runs(const ptx::ControlFlow& flow, std::vector<Inst>& code);
// Sets the reconvergence points of a function, after its code is complete.
void mark_reconvergence(const ptx::ControlFlow& flow, DecodedFunction& function);
// Whether any instruction of the function reads a result of `in`.
bool is_result_read(const ptx::Function& function, const ptx::Instruction& in);
// Whether the instruction's result is deterministic only if the blocks run in order
// (order_guard.h).
bool needs_block_order(const ptx::Instruction& in, const Inst& decoded);
// The access plan of the instruction: entry `index` of `own`, the plans of its function. If `own`
// is null, the access is issued as the PTX says.
AccessPlan access_plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index);

// ---------------------------------------------------------------------------------------------

// The target of a call by name. `callee`: the module's function of that name, or nullptr. `heap`:
// as in decode(). Throws lab32::Error for a function that the simulator lacks.
CallSite::Target call_target(const std::string& name, const ptx::Function* callee, bool heap);

// ---------------------------------------------------------------------------------------------
// The functions that a kernel may call.

struct ReachableFunctions {
  std::vector<const ptx::Function*> functions;  // [0] is the kernel
  // The first `by_name` functions are called by name. The others are only in tables of function
  // pointers through which the kernel may call.
  size_t by_name = 0;
};
// Throws lab32::Error if a function that is called by name cannot run.
ReachableFunctions find_reachable_functions(const ptx::Module& module, const ptx::Function& kernel);

struct SharedLayout {
  std::unordered_map<std::string, uint32_t> offset;  // by variable
  std::vector<SharedVariable> variables;
  uint32_t static_bytes = 0, dynamic_offset = 0;
};
SharedLayout lay_out_shared(const ptx::Module& module,
                            const std::vector<const ptx::Function*>& functions);

}  // namespace lab32::sim
