// What the decoder asks of an instruction besides its operands.
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
void mark_reconvergence(const ptx::ControlFlow& flow, CodeFunction& function);
// Whether any instruction of the function reads a result of it.
bool is_result_read(const ptx::Function& function, const ptx::Instruction& in);
// Whether the blocks must run in order for it to give one result (order_guard.h).
bool needs_block_order(const ptx::Instruction& in, const Inst& decoded);
// How it is issued: as `own`, the plans of its function, say at `index`; null: there are none.
AccessPlan plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index);

// ---------------------------------------------------------------------------------------------
// What a call by name means.

// `callee`: the module's function of that name; nullptr: it has none. `heap`: as decode()'s. Throws
// lab32::Error for what the simulator does not have.
CallSite::Target target_of(const std::string& name, const ptx::Function* callee, bool heap);

// ---------------------------------------------------------------------------------------------
// What a kernel can reach: the functions it may call, and the shared memory they declare.

struct ReachableFunctions {
  std::vector<const ptx::Function*> functions;  // [0] is the kernel
  // So many of them are named by the kernel, or by what it calls. The others stand in tables of
  // function pointers that it may call through.
  size_t by_name = 0;
};
// Throws lab32::Error with the refusal of a function by name that cannot run.
ReachableFunctions find_functions(const ptx::Module& module, const ptx::Function& kernel);

struct SharedLayout {
  std::unordered_map<std::string, uint32_t> offset;  // by variable
  std::vector<SharedVariable> variables;
  uint32_t static_bytes = 0, dynamic_offset = 0;
};
SharedLayout lay_out_shared(const ptx::Module& module,
                            const std::vector<const ptx::Function*>& functions);

}  // namespace lab32::sim
