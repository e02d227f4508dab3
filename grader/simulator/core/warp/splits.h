// Where the lanes of a warp are: divergence and reconvergence.
//
// Lanes that took different paths are kept as splits, each a program counter with a mask of lanes.
// A split that reaches the place where the lanes meet that a branch has parted waits in a Join
// until the others come too, or have gone where they cannot come to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "simulator/core/warp/frames.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

struct Join {
  uint32_t pc = 0;
  int reconvergence = -1;  // of the frame's function; -1: where nobody can miss it
  Frame* frame = nullptr;
  uint32_t expected = 0, arrived = 0;
  Join* parent = nullptr;
  Frame* callee = nullptr;  // a return point: the frame to free when all are back
};

struct Split {
  enum class State : uint8_t { ready, warp_sync, block_barrier };
  uint32_t id = 0;
  uint32_t pc = 0;
  uint32_t mask = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  State state = State::ready;
  uint32_t op_mask = 0;  // lanes that execute the instruction it waits at
  uint32_t wanted = 0;   // warp_sync: member mask
};

class Splits {
 public:
  explicit Splits(Frames& frames) : frames_(frames) {}
  // All lanes stand at the beginning of the kernel.
  void restart(uint32_t lanes, Frame* kernel);

  // The lanes that have not exited.
  uint32_t live() const { return live_; }
  const std::vector<Split>& list() const { return list_; }
  std::vector<Split>& list() { return list_; }
  Split& current() { return list_[current_]; }
  bool is_current_ready() const {
    return current_ < list_.size() && list_[current_].state == Split::State::ready;
  }
  size_t ready() const;
  // The next one that is ready becomes the current one. False: none is.
  bool choose_next();
  // Any of those that are ready, if one is.
  void choose_any(Random& random);

  // If the current split stands at its join, it waits there, or goes on with the joined lanes when
  // it was the last. False: it waits, and another split must be chosen.
  bool join_lanes();
  // `lanes` of the current split go on at the branch's target. True: the others do not.
  bool branch(const Inst& in, uint32_t lanes);
  // The current split goes on at my_pc with the lanes of my_mask; the others are another split.
  void diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
               Join* join);
  // Where the lanes wait that the branch parts: for all that are in the split.
  Join* join_of(const Inst& in, const Split& split);
  // All lanes of the split meet at `pc`: where they do already, if they do.
  Join* join_at(uint32_t pc, int reconvergence, const Split& split);
  // The current split, or the one made last, has gone on from a branch: no lane waits for its lanes
  // any longer where they cannot come to now. They meet those others where all the branch's ways
  // do.
  void current_leaves_joins(const Inst& in) { leave_joins(current_, in); }
  void last_leaves_joins(const Inst& in) { leave_joins(list_.size() - 1, in); }
  // The lanes of the current split call: they stand at the beginning of the callee.
  void enter(Frame* callee, uint32_t lanes);
  // Lanes of the current split return, or exit: every join on their way out stops expecting them.
  void leave(uint32_t lanes, bool to_caller);

  // The barrier of the block, or of the cluster, that the split waits for has completed.
  void release_barrier(uint32_t split_id);
  // The current split spins, and lanes it may be waiting for stand in a join: the innermost such
  // join lets them go. (Also that of a function's return: the lock may be taken in a function.)
  // False: none do.
  bool release_one_join();
  // Nothing can go on, and a warp barrier waits for lanes that stand in a join: lets them go on to
  // where they exit, or come to such a barrier. False: there are none.
  bool release_for_warp_barrier();
  // The same where a barrier of the block waits.
  bool release_for_block_barrier();

 private:
  Join* make_join();
  Join* make_join(uint32_t pc, int reconvergence, const Split& split, uint32_t expected,
                  Join* parent);
  void free_join(Join* join) { free_joins_.push_back(join); }
  void leave_joins(size_t which, const Inst& in);
  void push_split(const Join& join);
  void push_arrived(Join* join);
  void release(Join* join);

  Frames& frames_;
  uint32_t live_ = 0;
  std::vector<Split> list_;
  size_t current_ = 0;
  uint32_t next_id_ = 0;
  std::vector<std::unique_ptr<Join>> joins_;  // all ever made
  std::vector<Join*> free_joins_;
};

// An instruction at which lanes of a warp meet and exchange nothing.
inline bool is_warp_barrier(const Inst& in) {
  return in.ptx->op->traits.sync == ptx::Sync::warp_barrier;
}

}  // namespace lab32::sim
