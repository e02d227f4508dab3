#include "simulator/core/warp/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "simulator/core/isa/device_calls.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"
#include "simulator/ptx/register_uses.h"

namespace lab32::sim {

using ptx::OpId;

namespace {

AccessPlan ptx_level_plan(AccessWithoutSassMatch::Reason reason) {
  AccessPlan plan;
  plan.unmatched.emplace().reason = reason;
  return plan;
}

// Whether the instruction can be part of a run. Other instructions need the warp's loop, because
// they end slices, wait or change the state of the warp.
bool can_be_in_straight_line_run(const Inst& in) {
  if (in.flow != DispatchKind::straight || in.has_guard) return false;
  switch (in.ptx->op->id) {
    case OpId::ld:
    case OpId::st:
      return !in.order.strong;
    case OpId::ld_param:
    case OpId::st_param:
    case OpId::ld_nc:
    case OpId::ldu:
      return true;
    case OpId::alloca:
      return false;
    default:
      break;
  }
  const ptx::InstructionTraits& t = in.ptx->op->traits;
  const auto& operands = in.ptx->operands;
  return t.memory_count == 0 && !t.is_texture() && !t.bulk &&
         t.sync == ptx::InstructionSync::none &&
         std::none_of(operands.begin(), operands.end(), [](const ptx::Operand& o) {
           return o.kind == ptx::Operand::Kind::special && is_time_varying_special(o.special);
         });
}

}  // namespace

void find_straight_line_runs(const ptx::ControlFlow& flow, std::vector<Inst>& code) {
  for (const ptx::BasicBlock& block : flow.blocks) {
    uint32_t run = 0;
    for (auto i = static_cast<size_t>(block.last); i-- > static_cast<size_t>(block.first);)
      code[i].run = run = can_be_in_straight_line_run(code[i]) ? run + 1 : 0;
  }
}

void mark_reconvergence(const ptx::ControlFlow& flow, DecodedFunction& function) {
  function.reconvergence_points = flow.reconvergence_points;
  for (const ptx::ReconvergencePoint& m : flow.reconvergence_points)
    function.reconvergence_pcs.push_back(
        static_cast<uint32_t>(flow.blocks[static_cast<size_t>(m.block)].first));
  function.block_of = flow.block_of;
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const ptx::BasicBlock& block = flow.blocks[b];
    Inst& branch = function.code[static_cast<size_t>(block.last) - 1];
    if (!ptx::is_branch(*branch.ptx)) continue;
    branch.reconvergence = flow.reconvergence_of[b];
    branch.full_reconvergence = flow.full_reconvergence_of[b];
    const int behind = block.last;
    branch.may_skip_reconvergence = std::any_of(
        flow.reconvergence_points.begin(), flow.reconvergence_points.end(),
        [&](const ptx::ReconvergencePoint& m) {
          return m.from[b] &&
                 (static_cast<size_t>(behind) >= flow.block_of.size() ||
                  !m.from[static_cast<size_t>(flow.block_of[static_cast<size_t>(behind)])]);
        });
  }
}

DispatchKind dispatch_of(const ptx::InstructionTraits& traits) {
  switch (traits.transfer) {
    case ptx::ControlTransfer::branch:
      return DispatchKind::branch;
    case ptx::ControlTransfer::table_branch:
      return DispatchKind::table_branch;
    case ptx::ControlTransfer::call:
      return DispatchKind::call;
    case ptx::ControlTransfer::ret:
      return DispatchKind::ret;
    case ptx::ControlTransfer::exit:
      return DispatchKind::exit;
    case ptx::ControlTransfer::trap:
      return DispatchKind::trap;
    case ptx::ControlTransfer::next:
      break;
  }
  if (traits.is_block_barrier() || traits.is_cluster_barrier()) return DispatchKind::block_sync;
  if (traits.sync == ptx::InstructionSync::fence) return DispatchKind::fence;
  const bool of_warp = traits.sync == ptx::InstructionSync::warp ||
                       traits.sync == ptx::InstructionSync::warp_barrier;
  return of_warp ? DispatchKind::warp_collective : DispatchKind::straight;
}

ExecFn pick_exec_fn(const ptx::Instruction& in) {
  switch (in.op->id) {
#define OP(id, pattern, operands, traits) \
  case OpId::id:                          \
    return pick_##id(in);
#include "simulator/ptx/opcodes.def"
#undef OP
    case OpId::count_:
      break;
  }
  throw Error("an instruction without a row");
}

bool is_reserved_shared_register(ptx::SpecialReg reg) {
  return reg >= ptx::SpecialReg::reserved_smem_begin && reg <= ptx::SpecialReg::reserved_smem_1;
}

bool is_time_varying_special(ptx::SpecialReg reg) {
  using ptx::SpecialReg;
  switch (reg) {
    case SpecialReg::clock:
    case SpecialReg::clock_hi:
    case SpecialReg::clock64:
    case SpecialReg::globaltimer:
    case SpecialReg::globaltimer_lo:
    case SpecialReg::globaltimer_hi:
      return true;
    default:
      return false;
  }
}

bool is_result_read(const ptx::Function& function, const ptx::Instruction& in) {
  std::vector<int> results;
  ptx::for_each_register(function, in, [&](int r, bool is_destination) {
    if (is_destination) results.push_back(r);
  });
  bool read = false;
  for (const ptx::Instruction& other : function.body)
    ptx::for_each_register(function, other, [&](int r, bool is_destination) {
      read |= !is_destination && std::find(results.begin(), results.end(), r) != results.end();
    });
  return read;
}

bool needs_block_order(const ptx::Instruction& in, const Inst& decoded) {
  // Reductions by the copy engine or through a surface update memory without atomic operations of
  // the host. Blocks on several host threads could lose such updates.
  if (in.has(ptx::Modifier::reduce) && in.has(ptx::Modifier::global)) return true;
  if (in.op->id == OpId::sured) return true;
  if (!in.op->traits.is_atomic() || ptx::memory_space(in, 0) == ptx::Space::shared) return false;
  return is_order_sensitive(in, has_used_result(decoded));
}

AccessPlan access_plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index) {
  if (!in.op->traits.has_counted_memory_access() && !in.op->traits.is_texture()) return {};
  if (in.op->traits.ptx_level) return ptx_level_plan(AccessWithoutSassMatch::Reason::uncounted);
  if (own && index < own->size()) return (*own)[index];
  return ptx_level_plan(AccessWithoutSassMatch::Reason::no_machine_code);
}

// ---------------------------------------------------------------------------------------------

CallSite::Target call_target(const std::string& name, const ptx::Function* callee, bool heap) {
  using Target = CallSite::Target;
  if (name == "vprintf") return Target::vprintf;
  if (name == "__assertfail") return Target::assertfail;
  if (heap) {
    if (name == "malloc") return Target::malloc;
    if (name == "free") return Target::free;
    if (name == "__cudaCDP2GetParameterBufferV2") return Target::prepare_launch;
    if (name == "__cudaCDP2LaunchDeviceV2") return Target::launch;
    if (is_device_runtime(name)) return Target::runtime;
    if (name == "cudaGraphSetConditional") return Target::set_condition;
  }
  if (callee && !callee->is_declaration) return Target::function;
  if (name.rfind("cuda", 0) == 0 || name.rfind("__cudaCDP", 0) == 0)
    throw Error(
        fmt::format("the runtime on the device is not simulated, but for launches: `{}`", name));
  throw Error(fmt::format("the device function `{}` is not supported by the simulator", name));
}

// ---------------------------------------------------------------------------------------------

namespace {

using ptx::Operand;
using Kind = ptx::Operand::Kind;

class ReachableFunctionFinder {
 public:
  explicit ReachableFunctionFinder(const ptx::Module& module) : module_(module) {}

  void add_function(const ptx::Function* g) {
    if (!g || g->is_declaration) return;
    if (std::find(functions.begin(), functions.end(), g) == functions.end()) functions.push_back(g);
  }
  void add_function(const std::string& name) {
    const ptx::Function* g = module_.find_function(name);
    if (g && !g->is_entry) add_function(g);
  }
  // Adds the functions that functions[first] and all later ones name, transitively.
  void add_callees_from_index(size_t first) {
    for (size_t i = first; i < functions.size(); ++i) {
      const ptx::Function& f = *functions[i];
      for (const ptx::CallInfo& call : f.calls)
        if (call.target.kind == Kind::symbol) add_function(call.target.name);
      for (const ptx::Instruction& in : f.body)
        for (const Operand& op : in.operands)
          if (op.kind == Kind::symbol) add_function(op.name);
    }
  }

  std::vector<const ptx::Function*> functions;

 private:
  const ptx::Module& module_;
};

bool calls_through_pointers(const ptx::Function& f) {
  return std::any_of(f.calls.begin(), f.calls.end(),
                     [](const auto& c) { return c.target.kind != Kind::symbol; });
}

void collect_names(const Operand& op, std::set<std::string>* names) {
  if (!op.name.empty()) names->insert(op.name);
  for (const Operand& e : op.elements) collect_names(e, names);
}

}  // namespace

ReachableFunctions find_reachable_functions(const ptx::Module& module,
                                            const ptx::Function& kernel) {
  ReachableFunctionFinder found(module);
  found.add_function(&kernel);
  found.add_callees_from_index(0);
  ReachableFunctions reach;
  reach.by_name = found.functions.size();
  bool pointers = false;
  for (const ptx::Function* f : found.functions) {
    if (!f->refusal.empty()) throw Error(f->refusal);
    pointers |= calls_through_pointers(*f);
  }
  if (pointers) {
    // A table of function pointers (for virtual functions) may contain any function of the module.
    for (const ptx::Variable& v : module.variables)
      for (const auto& relocation : v.relocations) found.add_function(relocation.symbol);
    found.add_callees_from_index(reach.by_name);
  }
  reach.functions = std::move(found.functions);
  return reach;
}

SharedLayout lay_out_shared(const ptx::Module& module,
                            const std::vector<const ptx::Function*>& functions) {
  std::set<std::string> used;
  for (const auto* f : functions)
    for (const auto& in : f->body)
      for (const Operand& op : in.operands) collect_names(op, &used);

  SharedLayout layout;
  uint32_t at = 0;
  std::vector<const ptx::Variable*> dynamic;
  auto place = [&](const ptx::Variable& v) {
    if (v.space != ptx::Space::shared) return;
    if (v.is_unsized) {
      dynamic.push_back(&v);
      return;
    }
    at = align_up(at, std::max(1u, v.align));
    layout.offset[v.name] = at;
    layout.variables.push_back({v.name, at, static_cast<uint32_t>(v.size)});
    at += static_cast<uint32_t>(v.size);
  };
  for (const ptx::Variable& v : module.variables)
    if (used.count(v.name)) place(v);
  for (const auto* f : functions)
    for (const ptx::Variable& v : f->locals) place(v);
  layout.static_bytes = at;
  // Dynamic shared memory comes last; all its variables have the same address.
  for (const ptx::Variable* v : dynamic) at = align_up(at, std::max(16u, v->align));
  layout.dynamic_offset = at;
  for (const ptx::Variable* v : dynamic)
    if (layout.offset.emplace(v->name, at).second) layout.variables.push_back({v->name, at, 0});
  return layout;
}

// ---------------------------------------------------------------------------------------------
// The texts of instructions and refusals (instruction.h).

namespace {

bool has_opcode_word(const ptx::Instruction& in, std::string_view word) {
  for (size_t i = 0; i < in.mods.size(); ++i) {
    if (in.mods.test(i) && to_string(static_cast<ptx::Modifier>(i)) == word) return true;
  }
  return false;
}

}  // namespace

std::string opcode_text_of(const ptx::Instruction& in) {
  std::string text(in.op->base);
  int next_type = 0;
  for (const ptx::OpInfo::Part& part : in.op->parts) {
    for (std::string_view choice : part.choices) {
      const bool is_next_type =
          next_type < in.type_count && to_string(in.type(next_type)) == choice;
      if (!is_next_type && !has_opcode_word(in, choice)) continue;
      if (is_next_type) ++next_type;
      text += '.';
      text += choice;
      break;
    }
  }
  return text;
}

void refuse(const ptx::Instruction& in, const std::string& why) {
  throw Error(opcode_text_of(in) + ": " +
              (why.empty() ? "the PTX ISA has no such combination of types and modifiers" : why));
}

std::string refusal_with_position(const ptx::Module& module, const ptx::Instruction& in,
                                  const std::string& why) {
  const auto at = module.student_source_position(in.loc);
  return fmt::format("PTX line {}: {}{}", in.ptx_line, why,
                     at ? fmt::format(" (source: {}:{})", at->file, at->line) : "");
}

}  // namespace lab32::sim
