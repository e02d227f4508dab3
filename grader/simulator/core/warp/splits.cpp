#include "simulator/core/warp/splits.h"

#include <algorithm>

namespace lab32::sim {
namespace {

// Whether the join is a reconvergence point in the split's own activation, and not the return point
// of a call.
bool is_join_in_activation(const ReconvergenceJoin* join, const WarpSplit& split) {
  return join != nullptr && join->callee == nullptr && join->frame == split.frame;
}

// Whether lanes that continue at `join` can still reach the reconvergence point, but not the other
// way round.
bool is_join_before(const ReconvergenceJoin& join, int reconvergence,
                    const DecodedFunction& function) {
  return join.reconvergence >= 0 && function.can_reach(reconvergence, join.pc) &&
         !function.can_reach(join.reconvergence, function.reconvergence_pc(reconvergence));
}

// Whether lanes that continue at `pc` only exit: no access, barrier or branch comes before.
bool only_exits(const DecodedFunction& kernel, uint32_t pc) {
  for (size_t steps = 0; steps < kernel.code.size(); ++steps) {
    const Inst& in = kernel.code[pc];
    switch (in.flow) {
      case DispatchKind::ret:
      case DispatchKind::exit:
        if (!in.has_guard) return true;
        break;
      case DispatchKind::branch:
        if (in.has_guard) return false;
        pc = in.target;
        continue;
      case DispatchKind::straight: {
        const ptx::InstructionTraits& t = in.ptx->op->traits;
        if (t.memory_count > 0 || t.is_texture() || t.bulk || t.sync != ptx::InstructionSync::none)
          return false;
        break;
      }
      default:
        return false;
    }
    ++pc;
  }
  return false;
}

}  // namespace

void WarpSplits::reset_for_next_block(uint32_t lanes, CallFrame* kernel) {
  free_joins_.clear();
  for (auto& join : joins_) free_joins_.push_back(join.get());
  next_id_ = 0;
  live_ = lanes;
  WarpSplit start;
  start.id = next_id_++;
  start.mask = live_;
  start.frame = kernel;
  list_.assign(1, start);
  current_ = 0;
}

size_t WarpSplits::count_ready_splits() const {
  return static_cast<size_t>(std::count_if(list_.begin(), list_.end(), [](const WarpSplit& s) {
    return s.state == WarpSplit::State::ready;
  }));
}

bool WarpSplits::choose_next_ready_split() {
  if (current_ >= list_.size()) current_ = 0;
  const size_t n = list_.size();
  if (n == 0) return false;
  for (size_t step = 1; step <= n; ++step) {
    const size_t i = (current_ + step) % n;
    if (list_[i].state == WarpSplit::State::ready) {
      current_ = i;
      return true;
    }
  }
  return false;
}

void WarpSplits::choose_random_ready_split(Random& random) {
  if (list_.size() < 2) return;
  current_ = random.below(static_cast<uint32_t>(list_.size()));
  if (list_[current_].state != WarpSplit::State::ready) choose_next_ready_split();
}

ReconvergenceJoin* WarpSplits::make_join() {
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<ReconvergenceJoin>());
    free_joins_.push_back(joins_.back().get());
  }
  ReconvergenceJoin* join = free_joins_.back();
  free_joins_.pop_back();
  *join = ReconvergenceJoin{};
  return join;
}

// Makes one split of the lanes that have arrived at the join.
void WarpSplits::push_split_of_arrived(const ReconvergenceJoin& join) {
  WarpSplit split;
  split.id = next_id_++;
  split.pc = join.pc;
  split.mask = join.arrived;
  split.frame = join.frame;
  split.join = join.parent;
  list_.push_back(split);
}

// Called when all expected lanes have arrived.
void WarpSplits::complete_join(ReconvergenceJoin* join) {
  push_split_of_arrived(*join);
  if (join->callee) frames_.free(join->callee);
  free_join(join);
}

bool WarpSplits::try_pass_join() {
  for (;;) {
    WarpSplit& split = list_[current_];
    ReconvergenceJoin* join = split.join;
    if (!join || join->callee || split.pc != join->pc || split.frame != join->frame) return true;
    join->arrived |= split.mask;
    if (join->arrived != join->expected) {
      list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(current_));
      return false;
    }
    split.mask = join->arrived;
    split.join = join->parent;
    free_join(join);
  }
}

ReconvergenceJoin* WarpSplits::make_join(uint32_t pc, int reconvergence, const WarpSplit& split,
                                         uint32_t expected, ReconvergenceJoin* parent) {
  ReconvergenceJoin* join = make_join();
  join->pc = pc;
  join->reconvergence = reconvergence;
  join->frame = split.frame;
  join->expected = expected;
  join->parent = parent;
  return join;
}

void WarpSplits::diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
                         ReconvergenceJoin* join) {
  WarpSplit& split = list_[current_];
  split.join = join;
  split.pc = my_pc;
  split.mask = my_mask;
  WarpSplit other = split;
  other.id = next_id_++;
  other.pc = other_pc;
  other.mask = other_mask;
  list_.push_back(other);
}

ReconvergenceJoin* WarpSplits::find_or_make_join(uint32_t pc, int reconvergence,
                                                 const WarpSplit& split) {
  if (is_join_in_activation(split.join, split) && split.join->pc == pc) return split.join;
  return make_join(pc, reconvergence, split, split.mask, split.join);
}

ReconvergenceJoin* WarpSplits::join_of_branch(const Inst& in, const WarpSplit& split) {
  ReconvergenceJoin* const join = split.join;
  if (in.reconvergence < 0) return join;
  const DecodedFunction& function = *split.frame->function;
  // Lanes that wait at a join before the reconvergence point continue to the latter together.
  // leave_unreachable_joins() handles lanes that cannot reach it.
  if (is_join_in_activation(join, split) && is_join_before(*join, in.reconvergence, function))
    return join;
  // A loop that lanes leave one after the other needs one join, not one for each iteration.
  return find_or_make_join(function.reconvergence_pc(in.reconvergence), in.reconvergence, split);
}

void WarpSplits::leave_unreachable_joins(size_t which, const Inst& in) {
  WarpSplit& split = list_[which];
  const DecodedFunction& function = *split.frame->function;
  const auto misses = [&](const ReconvergenceJoin* join) {
    return is_join_in_activation(join, split) && join->reconvergence >= 0 &&
           !function.can_reach(join->reconvergence, split.pc);
  };
  if (!misses(split.join)) return;
  const uint32_t lanes = split.mask;
  ReconvergenceJoin* const innermost = split.join;
  ReconvergenceJoin* outermost = innermost;
  while (misses(outermost->parent)) outermost = outermost->parent;
  ReconvergenceJoin* around = outermost->parent;
  const int behind = in.full_reconvergence;
  if (behind >= 0 && function.can_reach(behind, split.pc) &&
      is_join_before(*outermost, behind, function)) {
    const uint32_t pc = function.reconvergence_pc(behind);
    const bool is_there = is_join_in_activation(around, split) &&
                          (around->pc == pc || is_join_before(*around, behind, function));
    if (!is_there)
      outermost->parent = around = make_join(pc, behind, split, outermost->expected, around);
  }
  split.join = around;
  for (ReconvergenceJoin* join = innermost; join != around;) {
    ReconvergenceJoin* const parent = join->parent;
    join->expected &= ~lanes;
    if (join->expected == 0)
      free_join(join);
    else if (join->arrived == join->expected)
      complete_join(join);
    join = parent;
  }
}

// Continues with the lanes that wait in the join; the join no longer waits for any of them.
void WarpSplits::release_waiting_lanes(ReconvergenceJoin* join) {
  push_split_of_arrived(*join);
  join->expected &= ~join->arrived;
  join->arrived = 0;
}

bool WarpSplits::release_innermost_join() {
  ReconvergenceJoin* join = list_[current_].join;
  while (join && join->arrived == 0) join = join->parent;
  if (!join) return false;
  release_waiting_lanes(join);
  return true;
}

bool WarpSplits::send_lanes_to_branch_target(const Inst& in, uint32_t lanes) {
  WarpSplit& split = list_[current_];
  const bool all = lanes == split.mask;
  if (all) {
    split.pc = in.target;
  } else {
    diverge(in.target, lanes, split.pc + 1, split.mask & ~lanes, join_of_branch(in, split));
    leave_unreachable_joins(list_.size() - 1, in);
  }
  leave_unreachable_joins(current_, in);
  return !all;
}

void WarpSplits::enter_callee(CallFrame* callee, uint32_t lanes) {
  WarpSplit& split = list_[current_];
  ReconvergenceJoin* back = make_join();
  back->pc = split.pc + 1;
  back->frame = split.frame;
  back->expected = lanes;
  back->parent = split.join;
  back->callee = callee;
  split.frame = callee;
  split.join = back;
  split.pc = 0;
}

void WarpSplits::return_or_exit(uint32_t lanes, bool to_caller) {
  WarpSplit& split = list_[current_];
  ReconvergenceJoin* join = split.join;
  const CallFrame* const frame = split.frame;
  split.mask &= ~lanes;
  if (split.mask == 0) {
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(current_));
  } else {
    ++split.pc;
  }
  while (join) {
    ReconvergenceJoin* parent = join->parent;
    if (to_caller && join->callee == frame) {
      join->arrived |= lanes;
      if (join->arrived == join->expected) complete_join(join);
      break;
    }
    join->expected &= ~lanes;
    if (join->expected == 0) {
      if (join->callee) frames_.free(join->callee);
      free_join(join);
    } else if (join->arrived == join->expected) {
      complete_join(join);
    }
    join = parent;
  }
  if (!to_caller) live_ &= ~lanes;
}

void WarpSplits::release_split_from_barrier(uint32_t split_id) {
  for (WarpSplit& s : list_) {
    if (s.id != split_id) continue;
    s.state = WarpSplit::State::ready;
    ++s.pc;
  }
}

bool WarpSplits::release_join_lanes_to_exit() {
  for (const WarpSplit& s : list_)
    for (ReconvergenceJoin* join = s.join; join != nullptr; join = join->parent) {
      const bool in_kernel = join->frame->parent == nullptr;
      if (join->arrived == 0 || !in_kernel || !only_exits(*join->frame->function, join->pc))
        continue;
      release_waiting_lanes(join);
      return true;
    }
  return false;
}

// `if (t < 16) { ...; __syncwarp(); }` waits for lanes that skip the branch and exit. In the
// simulator these lanes wait at the branch's join; on an H100 they do not (programs/warp_barriers),
// so they are released here. An exchange of data with them remains a fault.
bool WarpSplits::release_join_lanes_for_warp_barrier() {
  const auto is_at_barrier = [](const WarpSplit& s) {
    return s.state == WarpSplit::State::warp_collective &&
           is_warp_barrier(s.frame->function->code[s.pc]);
  };
  for (const WarpSplit& s : list_) {
    if (!is_at_barrier(s)) continue;
    uint32_t missing = s.wanted & live_;
    for (const WarpSplit& other : list_)
      if (is_at_barrier(other) && other.wanted == s.wanted) missing &= ~other.op_mask;
    for (ReconvergenceJoin* join = s.join; join != nullptr; join = join->parent) {
      if ((join->arrived & missing) == 0) continue;
      release_waiting_lanes(join);
      return true;
    }
  }
  return false;
}

bool WarpSplits::release_join_lanes_for_block_barrier() {
  for (const WarpSplit& s : list_)
    for (ReconvergenceJoin* join = s.join; join != nullptr; join = join->parent) {
      if (join->arrived == 0 || join->callee != nullptr) continue;
      release_waiting_lanes(join);
      return true;
    }
  return false;
}

}  // namespace lab32::sim
