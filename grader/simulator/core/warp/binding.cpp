#include "simulator/core/warp/binding.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/module.h"

namespace lab32::sim {

using ptx::OpId;

namespace {

AccessPlan as_written(Unmatched::Reason reason) {
  AccessPlan plan;
  plan.unmatched.emplace().reason = reason;
  return plan;
}

// Of all others the warp's loop must hear: where its slice ends, whether it waits, what it holds.
bool only_runs(const Inst& in) {
  if (in.flow != Dispatch::straight || in.has_guard) return false;
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
  const ptx::Traits& t = in.ptx->op->traits;
  const auto& operands = in.ptx->operands;
  return t.memory_count == 0 && !t.is_texture() && !t.bulk && t.sync == ptx::Sync::none &&
         std::none_of(operands.begin(), operands.end(), [](const ptx::Operand& o) {
           return o.kind == ptx::Operand::Kind::special && is_dynamic_special(o.special);
         });
}

}  // namespace

void find_runs(const ptx::ControlFlow& flow, std::vector<Inst>& code) {
  for (const ptx::BasicBlock& block : flow.blocks) {
    uint32_t run = 0;
    for (auto i = static_cast<size_t>(block.last); i-- > static_cast<size_t>(block.first);)
      code[i].run = run = only_runs(code[i]) ? run + 1 : 0;
  }
}

void mark_meetings(const ptx::ControlFlow& flow, CodeFunction& function) {
  function.meetings = flow.meetings;
  for (const ptx::Meeting& m : flow.meetings)
    function.meeting_pcs.push_back(
        static_cast<uint32_t>(flow.blocks[static_cast<size_t>(m.block)].first));
  function.block_of = flow.block_of;
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const ptx::BasicBlock& block = flow.blocks[b];
    Inst& branch = function.code[static_cast<size_t>(block.last) - 1];
    if (!ptx::is_branch(*branch.ptx)) continue;
    branch.meeting = flow.meeting_of[b];
    branch.last_meeting = flow.last_meeting_of[b];
    const int behind = block.last;
    branch.avoids =
        std::any_of(flow.meetings.begin(), flow.meetings.end(), [&](const ptx::Meeting& m) {
          return m.from[b] &&
                 (static_cast<size_t>(behind) >= flow.block_of.size() ||
                  !m.from[static_cast<size_t>(flow.block_of[static_cast<size_t>(behind)])]);
        });
  }
}

Dispatch flow_of(const ptx::Traits& traits) {
  switch (traits.flow) {
    case ptx::Flow::branch:
      return Dispatch::branch;
    case ptx::Flow::table_branch:
      return Dispatch::table_branch;
    case ptx::Flow::call:
      return Dispatch::call;
    case ptx::Flow::ret:
      return Dispatch::ret;
    case ptx::Flow::exit:
      return Dispatch::exit;
    case ptx::Flow::trap:
      return Dispatch::trap;
    case ptx::Flow::next:
      break;
  }
  if (traits.is_block_barrier() || traits.is_cluster_barrier()) return Dispatch::block_sync;
  const bool of_warp = traits.sync == ptx::Sync::warp || traits.sync == ptx::Sync::warp_barrier;
  return of_warp ? Dispatch::warp_sync : Dispatch::straight;
}

ExecFn pick(const ptx::Instruction& in) {
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

bool is_reserved_shared(ptx::SpecialReg reg) {
  return reg >= ptx::SpecialReg::reserved_smem_begin && reg <= ptx::SpecialReg::reserved_smem_1;
}

bool is_dynamic_special(ptx::SpecialReg reg) {
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
  // Reductions by the copy engine, or through a surface, are not those that host threads do at
  // once.
  if (in.has(ptx::Mod::reduce) && in.has(ptx::Mod::global)) return true;
  if (in.op->id == OpId::sured) return true;
  if (!in.op->traits.is_atomic() || ptx::memory_space(in, 0) == ptx::Space::shared) return false;
  return is_order_sensitive(in, has_result(decoded));
}

AccessPlan plan_for(const ptx::Instruction& in, const FunctionPlans* own, size_t index) {
  if (!in.op->traits.accesses_memory() && !in.op->traits.is_texture()) return {};
  if (in.op->traits.ptx_level) return as_written(Unmatched::Reason::uncounted);
  if (own && index < own->size()) return (*own)[index];
  return as_written(Unmatched::Reason::no_machine_code);
}

}  // namespace lab32::sim
