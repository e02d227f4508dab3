// Divergence and reconvergence: which lanes wait where for which others.
#include "simulator/core/execute/warp.h"

namespace lab32::sim {
namespace {

// Of the same activation, in the given loop of its function. Not where a call returns to.
bool is_inside(const Join* join, const Frame* frame, int loop) {
  return join != nullptr && join->callee == nullptr && join->frame == frame &&
         frame->function->is_in(loop, join->pc);
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

// The lanes of `join` are complete: they go on as one split.
void Warp::push_arrived(Join* join) {
  Split split;
  split.id = next_id_++;
  split.pc = join->pc;
  split.mask = join->arrived;
  split.frame = join->frame;
  split.join = join->parent;
  if (join->callee) free_frame(join->callee);
  free_join(join);
  splits_.push_back(split);
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

void Warp::diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
                   uint32_t reconverge) {
  Split& split = splits_[current_];
  Join* join = split.join;
  // A loop that lanes leave one after the other has one join, not one for each iteration.
  const bool same = join && !join->callee && join->pc == reconverge && join->frame == split.frame;
  if (reconverge != Inst::kNoReconverge && !same) {
    join = make_join();
    join->pc = reconverge;
    join->frame = split.frame;
    join->expected = split.mask;
    join->parent = split.join;
  }
  split.join = join;
  split.pc = my_pc;
  split.mask = my_mask;
  Split other = split;
  other.id = next_id_++;
  other.pc = other_pc;
  other.mask = other_mask;
  splits_.push_back(other);
}

// Where the lanes meet that the branch parts. Behind a loop they do not wait below a place inside
// it, where others would wait for them: who leaves is told so by leave_loops.
uint32_t Warp::meeting_of(const Inst& in, const Split& split) const {
  if (!in.leaves_loop || in.reconverge == Inst::kNoReconverge) return in.reconverge;
  const int left = split.frame->function->loop_left(split.pc, in.reconverge);
  return left >= 0 && is_inside(split.join, split.frame, left) ? Inst::kNoReconverge
                                                               : in.reconverge;
}

// The split has gone on from a branch at `from`. If that led out of loops, nobody waits for its
// lanes in there any longer; they meet the others behind the loop instead.
void Warp::leave_loops(size_t which, uint32_t from) {
  Split& split = splits_[which];
  const CodeFunction& function = *split.frame->function;
  const int left = function.loop_left(from, split.pc);
  if (left < 0 || !is_inside(split.join, split.frame, left)) return;
  const uint32_t lanes = split.mask;
  Join* const innermost = split.join;
  Join* outermost = innermost;
  while (is_inside(outermost->parent, split.frame, left)) outermost = outermost->parent;
  const uint32_t behind = function.loops[static_cast<size_t>(left)].behind;
  Join* around = outermost->parent;
  const bool is_there = around != nullptr && around->callee == nullptr && around->pc == behind &&
                        around->frame == split.frame;
  if (behind != Inst::kNoReconverge && !is_there) {
    Join* join = make_join();
    join->pc = behind;
    join->frame = split.frame;
    join->expected = outermost->expected;
    join->parent = around;
    outermost->parent = around = join;
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
  Split split;
  split.id = next_id_++;
  split.pc = join->pc;
  split.mask = join->arrived;
  split.frame = join->frame;
  split.join = join->parent;
  join->expected &= ~join->arrived;
  join->arrived = 0;
  splits_.push_back(split);
}

// The current split spins, and lanes it may be waiting for stand in a join: the innermost such join
// lets them go. (Also that of a function's return: the lock may be taken in a function.)
bool Warp::release_one_join() {
  Join* join = splits_[current_].join;
  while (join && join->arrived == 0) join = join->parent;
  if (!join) return false;
  release(join);
  return true;
}

}  // namespace lab32::sim
