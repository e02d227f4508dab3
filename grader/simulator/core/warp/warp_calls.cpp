// Calls, returns and exits of the lanes of a warp.
#include <cstring>

#include "base/text.h"
#include "simulator/core/isa/device_calls.h"
#include "simulator/core/undefined/definedness.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

void Warp::enter(uint32_t function, const Inst& call, uint32_t lanes, Split& split) {
  const CallSite& site = program().calls[call.target];
  const CodeFunction& callee = program().functions[function];
  if (!callee.refusal.empty()) {
    TrapFacts unsupported = facts(TrapReason::unsupported_function, __builtin_ctz(lanes));
    unsupported.name = demangle(callee.ptx->name);
    unsupported.cause = callee.refusal;
    trap(call, std::move(unsupported));
  }
  Frame* caller = split.frame;
  Frame* frame = make_frame(callee, caller, &call);
  // What an earlier call left there is not this one's. Other lanes may be in calls of their own.
  forget_local(lanes, frame->local_base, callee.local_bytes);
  const uint32_t from_bytes = caller->function->param_bytes;
  for (size_t a = 0; a < callee.arguments.size() && a < site.arguments.size(); ++a) {
    for (uint32_t r = lanes; r; r &= r - 1) {
      const auto l = static_cast<size_t>(__builtin_ctz(r));
      std::memcpy(frame->params.data() + l * callee.param_bytes + callee.arguments[a].offset,
                  caller->params.data() + l * from_bytes + site.arguments[a],
                  callee.arguments[a].bytes);
    }
    Definedness::pass(*caller, site.arguments[a], *frame, callee.arguments[a].offset,
                      callee.arguments[a].bytes, lanes);
  }
  Join* back = make_join();
  back->pc = split.pc + 1;
  back->frame = caller;
  back->expected = lanes;
  back->parent = split.join;
  back->callee = frame;
  split.frame = frame;
  split.join = back;
  split.pc = 0;
}

void Warp::call(const Inst& in, uint32_t op_mask) {
  const CallSite& site = program().calls[in.target];
  Split& split = splits_[current_];
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
    device_runtime(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (site.target == CallSite::Target::set_condition) {
    device_set_condition(*this, in, site, op_mask);
    ++split.pc;
    return;
  }
  if (op_mask != split.mask) return set_aside(in, split.mask & ~op_mask, split.pc + 1);
  if (site.target == CallSite::Target::function) return enter(site.function, in, op_mask, split);

  // Through a pointer: lanes with the same target go together, the others call by themselves.
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
  if (same != op_mask) return set_aside(in, op_mask & ~same, split.pc);
  enter(callee->second, in, op_mask, split);
}

// Lanes that cannot execute this instruction with the rest leave the split (to come back to it, or
// to wait behind it); the instruction is then executed anew, so this issue of it does not count.
void Warp::set_aside(const Inst& in, uint32_t lanes, uint32_t their_pc) {
  Split& split = splits_[current_];
  IssueTally& t = block_.tally()[in.site];
  --t.warps;
  t.lanes -= static_cast<unsigned>(__builtin_popcount(last_op_mask_));
  const uint32_t here = split.pc;
  constexpr int kNobodyMisses = -1;
  diverge(their_pc, lanes, here, split.mask & ~lanes, join_at(here + 1, kNobodyMisses, split));
}

void Warp::leave(uint32_t lanes, bool exit_thread) {
  Split& split = splits_[current_];
  Join* join = split.join;
  Frame* frame = split.frame;
  const bool to_caller = !exit_thread && frame->parent != nullptr;

  if (to_caller) {
    // Results go from the callee's return parameters to where the caller wants them.
    const Join* back = join;
    while (back->callee != frame) back = back->parent;
    const CodeFunction& callee = *frame->function;
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
      Definedness::pass(*frame, callee.results[r].offset, *back->frame, site.results[r],
                        callee.results[r].bytes, lanes);
    }
  }

  split.mask &= ~lanes;
  if (split.mask == 0) {
    splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
  } else {
    ++split.pc;
  }
  // Every join on their way out stops expecting the lanes.
  while (join) {
    Join* parent = join->parent;
    if (to_caller && join->callee == frame) {
      join->arrived |= lanes;
      if (join->arrived == join->expected) push_arrived(join);
      break;
    }
    join->expected &= ~lanes;
    if (join->expected == 0) {
      if (join->callee) free_frame(join->callee);
      free_join(join);
    } else if (join->arrived == join->expected) {
      push_arrived(join);
    }
    join = parent;
  }
  if (!to_caller) {
    live_ &= ~lanes;
    retry_warp_syncs();
    block_.threads_exited();
  }
}

}  // namespace lab32::sim
