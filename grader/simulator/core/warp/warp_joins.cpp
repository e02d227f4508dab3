// Divergence and reconvergence: which lanes wait where for which others.
#include "simulator/core/warp/warp.h"

namespace lab32::sim {
namespace {

// A place in the split's own activation where lanes wait; not where a call returns to.
bool is_place(const Join* join, const Split& split) {
  return join != nullptr && join->callee == nullptr && join->frame == split.frame;
}

// Whether lanes that meet at `join` come to the meeting after that.
bool is_before(const Join& join, int meeting, const CodeFunction& function) {
  return join.meeting >= 0 && function.come_to(meeting, join.pc) &&
         !function.come_to(join.meeting, function.pc_of(meeting));
}

}  // namespace

Join* Warp::make_join() {
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>());
    free_joins_.push_back(joins_.back().get());
  }
  Join* join = free_joins_.back();
  free_joins_.pop_back();
  *join = Join{};
  return join;
}

void Warp::free_join(Join* join) { free_joins_.push_back(join); }

// The lanes that have come to the join go on as one split.
void Warp::push_split(const Join& join) {
  Split split;
  split.id = next_id_++;
  split.pc = join.pc;
  split.mask = join.arrived;
  split.frame = join.frame;
  split.join = join.parent;
  splits_.push_back(split);
}

// All that are expected have come.
void Warp::push_arrived(Join* join) {
  push_split(*join);
  if (join->callee) free_frame(join->callee);
  free_join(join);
}

// If the current split stands at its join, it waits there, or goes on with the joined lanes when it
// was the last. False: it waits, and another split must be chosen.
bool Warp::join_lanes() {
  for (;;) {
    Split& split = splits_[current_];
    Join* join = split.join;
    if (!join || join->callee || split.pc != join->pc || split.frame != join->frame) return true;
    join->arrived |= split.mask;
    if (join->arrived != join->expected) {
      splits_.erase(splits_.begin() + static_cast<std::ptrdiff_t>(current_));
      return false;
    }
    split.mask = join->arrived;
    split.join = join->parent;
    free_join(join);
  }
}

Join* Warp::make_join(uint32_t pc, int meeting, const Split& split, uint32_t expected,
                      Join* parent) {
  Join* join = make_join();
  join->pc = pc;
  join->meeting = meeting;
  join->frame = split.frame;
  join->expected = expected;
  join->parent = parent;
  return join;
}

void Warp::diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
                   Join* join) {
  Split& split = splits_[current_];
  split.join = join;
  split.pc = my_pc;
  split.mask = my_mask;
  Split other = split;
  other.id = next_id_++;
  other.pc = other_pc;
  other.mask = other_mask;
  splits_.push_back(other);
}

// All lanes of the split meet at `pc`: where they do already, if they do.
Join* Warp::join_at(uint32_t pc, int meeting, const Split& split) {
  if (is_place(split.join, split) && split.join->pc == pc) return split.join;
  return make_join(pc, meeting, split, split.mask, split.join);
}

// Where the lanes wait that the branch parts: for all that are in the split.
Join* Warp::join_of(const Inst& in, const Split& split) {
  Join* const join = split.join;
  if (in.meeting < 0) return join;
  const CodeFunction& function = *split.frame->function;
  // Who meets others on the way there does so first: leave_joins sees to those who do not.
  if (is_place(join, split) && is_before(*join, in.meeting, function)) return join;
  // A loop that lanes leave one after the other has one join, not one for each iteration.
  return join_at(function.pc_of(in.meeting), in.meeting, split);
}

// The split has gone on from a branch: nobody waits for its lanes any longer where they cannot come
// to now. They meet those others where all the branch's ways do.
void Warp::leave_joins(size_t which, const Inst& in) {
  Split& split = splits_[which];
  const CodeFunction& function = *split.frame->function;
  const auto misses = [&](const Join* join) {
    return is_place(join, split) && join->meeting >= 0 &&
           !function.come_to(join->meeting, split.pc);
  };
  if (!misses(split.join)) return;
  const uint32_t lanes = split.mask;
  Join* const innermost = split.join;
  Join* outermost = innermost;
  while (misses(outermost->parent)) outermost = outermost->parent;
  Join* around = outermost->parent;
  const int behind = in.last_meeting;
  if (behind >= 0 && function.come_to(behind, split.pc) &&
      is_before(*outermost, behind, function)) {
    const uint32_t pc = function.pc_of(behind);
    const bool is_there =
        is_place(around, split) && (around->pc == pc || is_before(*around, behind, function));
    if (!is_there)
      outermost->parent = around = make_join(pc, behind, split, outermost->expected, around);
  }
  split.join = around;
  for (Join* join = innermost; join != around;) {
    Join* const parent = join->parent;
    join->expected &= ~lanes;
    if (join->expected == 0)
      free_join(join);
    else if (join->arrived == join->expected)
      push_arrived(join);
    join = parent;
  }
}

// The lanes that stand there go on, and are expected no longer.
void Warp::release(Join* join) {
  push_split(*join);
  join->expected &= ~join->arrived;
  join->arrived = 0;
}

// The current split spins, and lanes it may be waiting for stand in a join: the innermost such join
// lets them go. (Also that of a function's return: the lock may be taken in a function.) False:
// none do.
bool Warp::release_one_join() {
  Join* join = splits_[current_].join;
  while (join && join->arrived == 0) join = join->parent;
  if (!join) return false;
  release(join);
  return true;
}

}  // namespace lab32::sim
