// Calls, returns and exits of the lanes of a warp, and the operations that they execute together.
#include <cstring>

#include "base/text.h"
#include "simulator/core/isa/device_calls.h"
#include "simulator/core/undefined/definedness.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

void Warp::enter_function(uint32_t function, const Inst& call, uint32_t lanes) {
  const CallSite& site = program().calls[call.target];
  const DecodedFunction& callee = program().functions[function];
  if (!callee.refusal.empty()) {
    TrapFacts unsupported = facts(TrapReason::unsupported_function, __builtin_ctz(lanes));
    unsupported.name = demangle(callee.ptx->name);
    unsupported.cause = callee.refusal;
    trap(call, std::move(unsupported));
  }
  CallFrame* const caller = current().frame;
  CallFrame* const frame = frames_.make_frame(callee, caller, &call);
  // The callee's local memory becomes undefined, so that values of an earlier call are not used.
  // Only the stacks of these lanes change, because other lanes may be in calls of their own.
  local_.make_undefined(lanes, frame->local_base, callee.local_bytes);
  const uint32_t from_bytes = caller->function->param_bytes;
  for (size_t a = 0; a < callee.arguments.size() && a < site.arguments.size(); ++a) {
    for (uint32_t r = lanes; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      std::memcpy(frame->params.data() + l * callee.param_bytes + callee.arguments[a].offset,
                  caller->params.data() + l * from_bytes + site.arguments[a],
                  callee.arguments[a].bytes);
    }
    UndefinedBitTracker::copy_undefined_param_bits(*caller, site.arguments[a], *frame,
                                                   callee.arguments[a].offset,
                                                   callee.arguments[a].bytes, lanes);
  }
  splits_.enter_callee(frame, lanes);
}

void Warp::call(const Inst& in, uint32_t op_mask) {
  const CallSite& site = program().calls[in.target];
  WarpSplit& split = current();
  if (site.target == CallSite::Target::vprintf) {
    device_printf(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::assertfail) device_assert(*this, in, site, op_mask);
  if (site.target == CallSite::Target::malloc || site.target == CallSite::Target::free) {
    if (site.target == CallSite::Target::malloc)
      device_malloc(*this, in, site, op_mask);
    else
      device_free(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::prepare_launch || site.target == CallSite::Target::launch) {
    if (site.target == CallSite::Target::prepare_launch)
      device_prepare_launch(*this, in, site, op_mask);
    else
      device_launch(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::runtime) {
    call_device_runtime(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::set_condition) {
    device_set_graph_condition(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (op_mask != split.mask) return split_off_lanes(in, split.mask & ~op_mask, split.pc + 1);
  if (site.target == CallSite::Target::function) return enter_function(site.function, in, op_mask);

  // For a call through a pointer, the lanes with equal targets make one call; the other lanes call
  // separately.
  const auto* pointer = reinterpret_cast<const uint64_t*>(split.frame->regs + site.pointer.offset);
  const int first = __builtin_ctz(op_mask);
  const uint64_t target = pointer[first];
  const auto callee = program().function_at.find(target);
  if (callee == program().function_at.end()) {
    TrapFacts wild = facts(TrapReason::no_function, first);
    wild.value = target;
    trap(in, std::move(wild));
  }
  uint32_t same = 0;
  for (uint32_t r = op_mask; r; r &= r - 1) {
    const int l = __builtin_ctz(r);
    if (pointer[l] == target) same |= 1u << l;
  }
  if (same != op_mask) return split_off_lanes(in, op_mask & ~same, split.pc);
  enter_function(callee->second, in, op_mask);
}

// Some lanes cannot execute this instruction together with the others. They leave the split and
// continue at `their_pc`: they return to the instruction or wait behind it. The other lanes execute
// the instruction again, so this issue does not count.
void Warp::split_off_lanes(const Inst& in, uint32_t lanes, uint32_t their_pc) {
  WarpSplit& split = current();
  StaticInstructionIssueCounts& t = block_.tally()[in.site];
  --t.warps;
  t.lanes -= static_cast<unsigned>(__builtin_popcount(last_op_mask_));
  const uint32_t here = split.pc;
  constexpr int kNobodyMisses = -1;
  splits_.diverge(their_pc, lanes, here, split.mask & ~lanes,
                  splits_.find_or_make_join(here + 1, kNobodyMisses, split));
}

void Warp::return_or_exit(uint32_t lanes, bool exit_thread) {
  CallFrame* const frame = current().frame;
  const bool to_caller = !exit_thread && frame->parent != nullptr;

  if (to_caller) {
    // Copies results from the callee's return parameters to the caller's.
    const ReconvergenceJoin* back = current().join;
    while (back->callee != frame) back = back->parent;
    const DecodedFunction& callee = *frame->function;
    const Inst& at = back->frame->function->code[back->pc - 1];
    const CallSite& site = program().calls[at.target];
    const uint32_t to_bytes = back->frame->function->param_bytes;
    for (size_t r = 0; r < callee.results.size() && r < site.results.size(); ++r) {
      for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto l = static_cast<size_t>(__builtin_ctz(rest));
        std::memcpy(back->frame->params.data() + l * to_bytes + site.results[r],
                    frame->params.data() + l * callee.param_bytes + callee.results[r].offset,
                    callee.results[r].bytes);
      }
      UndefinedBitTracker::copy_undefined_param_bits(*frame, callee.results[r].offset, *back->frame,
                                                     site.results[r], callee.results[r].bytes,
                                                     lanes);
    }
  }

  splits_.return_or_exit(lanes, to_caller);
  if (!to_caller) {
    retry_warp_collectives();
    block_.on_threads_exit();
  }
}

// ---------------------------------------------------------------------------------------------
// Warp operations: for which lanes they wait, and when they execute.

// The lanes that the member mask operand of lane `l` names.
static uint32_t member_mask(const Inst& in, const std::byte* regs, int l, uint32_t live) {
  if (in.ptx->op->traits.of_whole_warp()) return live;
  const RegisterSlot& slot = in.src[in.src_count - 1];
  return reinterpret_cast<const uint32_t*>(regs + slot.offset)[l];
}

// The lanes among `lanes` whose member mask equals `wanted`.
static uint32_t lanes_with_same_member_mask(const Inst& in, const std::byte* regs, uint32_t lanes,
                                            uint32_t wanted) {
  if (in.ptx->op->traits.of_whole_warp()) return lanes;
  const RegisterSlot& slot = in.src[in.src_count - 1];
  const auto* masks = reinterpret_cast<const uint32_t*>(regs + slot.offset);
  uint32_t same = 0;
  for (uint32_t l = 0; l < kWarpSize; ++l) same |= uint32_t{masks[l] == wanted} << l;
  return same & lanes;
}

// Reports lanes that execute a warp operation whose member mask does not name them.
void Warp::report_lane_not_in_mask(const Inst& in, uint32_t lanes, uint32_t member_mask) {
  // On an H100 all lanes that arrive together execute the operation, whatever the mask says.
  if (block_.as_on_a_gpu()) return;
  block_.faults().trap_or_report(in.site, lanes, FaultEvent::Kind::barrier, [&](int lane) {
    TrapFacts facts = this->facts(TrapReason::lane_not_named, lane);
    facts.warp->lanes = lanes;
    facts.warp->mask = member_mask;
    facts.warp->lane = static_cast<uint32_t>(lane);
    return facts;
  });
}

void Warp::start_warp_collective(const Inst& in, uint32_t op_mask) {
  WarpSplit& split = current();
  if (op_mask != split.mask) return split_off_lanes(in, split.mask & ~op_mask, split.pc + 1);
  const std::byte* regs = split.frame->regs;
  uint32_t wanted = member_mask(in, regs, __builtin_ctz(op_mask), live());
  const uint32_t same = lanes_with_same_member_mask(in, regs, op_mask, wanted);
  if (same != op_mask) return split_off_lanes(in, op_mask & ~same, split.pc);
  if ((same & ~wanted) != 0) {
    report_lane_not_in_mask(in, same & ~wanted, wanted);
    wanted |= same;
  }
  if ((wanted & live() & ~same) == 0) {
    if (is_warp_barrier(in)) {
      block_.reports().warp_barrier(index_, same);
    } else {
      execute(*split.frame, same, in);
    }
    ++split.pc;
    return;
  }
  split.state = WarpSplit::State::warp_collective;
  split.op_mask = same;
  split.wanted = wanted;
  retry_warp_collectives();
}

// Executes the warp operations whose lanes have all arrived (or exited).
void Warp::retry_warp_collectives() {
  for (size_t i = 0; i < splits_.list().size(); ++i)
    if (splits_.list()[i].state == WarpSplit::State::warp_collective) try_warp_collective(i, false);
}

// Executes the operation at which split `i` waits, together with all splits that wait for it, if
// all its lanes have arrived. `force`: even if lanes are missing.
void Warp::try_warp_collective(size_t i, bool force) {
  const WarpSplit first = splits_.list()[i];
  const Inst& in = first.frame->function->code[first.pc];
  const bool barrier = is_warp_barrier(in);
  // Lanes may reach a warp barrier at different instructions. An exchange of data requires one and
  // the same instruction.
  auto together = [&](const WarpSplit& s) {
    if (s.state != WarpSplit::State::warp_collective || s.wanted != first.wanted) return false;
    const Inst& other = s.frame->function->code[s.pc];
    return barrier ? is_warp_barrier(other) : s.pc == first.pc && s.frame == first.frame;
  };
  uint32_t here = 0;
  for (const WarpSplit& s : splits_.list())
    if (together(s)) here |= s.op_mask;
  if (!force && (first.wanted & live() & ~here) != 0) return;
  if (barrier) {
    block_.reports().warp_barrier(index_, here);
  } else {
    execute(*first.frame, here, in);
  }
  for (WarpSplit& s : splits_.list()) {
    if (!together(s) || (s.op_mask & ~here) != 0) continue;
    s.state = WarpSplit::State::ready;
    ++s.pc;
  }
}

const WarpSplit* Warp::split_waiting_in_warp_collective() const {
  for (const WarpSplit& s : splits_.list())
    if (s.state == WarpSplit::State::warp_collective) return &s;
  return nullptr;
}

void Warp::force_one_warp_collective() {
  for (size_t i = 0; i < splits_.list().size(); ++i)
    if (splits_.list()[i].state == WarpSplit::State::warp_collective)
      return try_warp_collective(i, true);
}

}  // namespace lab32::sim
