// WarpSplits: divergence and reconvergence of the lanes of a warp.
//
// A split is a set of lanes with one program counter. A divergent branch makes two splits and a
// ReconvergenceJoin at its reconvergence point. A split that reaches the point waits in the
// ReconvergenceJoin until the other lanes arrive or take a path that cannot reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "simulator/core/warp/frames.h"
#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// A reconvergence point at which splits wait for each other.
struct ReconvergenceJoin {
  uint32_t pc = 0;
  int reconvergence = -1;  // reconvergence point of the frame's function; -1: every lane passes it
  CallFrame* frame = nullptr;
  uint32_t expected = 0, arrived = 0;
  ReconvergenceJoin* parent = nullptr;
  CallFrame* callee =
      nullptr;  // for a return point: the frame to free when all lanes have returned
};

// Lanes of a warp that run together, and the place in the program where they are.
struct WarpSplit {
  enum class State : uint8_t { ready, warp_collective, block_barrier };
  uint32_t id = 0;
  uint32_t pc = 0;
  uint32_t mask = 0;
  CallFrame* frame = nullptr;
  ReconvergenceJoin* join = nullptr;
  State state = State::ready;
  uint32_t op_mask = 0;  // lanes that execute the instruction at which the split waits
  uint32_t wanted = 0;   // warp_collective: member mask
};

class WarpSplits {
 public:
  explicit WarpSplits(CallFramePool& frames) : frames_(frames) {}
  // Puts all lanes at the beginning of the kernel.
  void reset_for_next_block(uint32_t lanes, CallFrame* kernel);

  // The lanes that have not exited.
  uint32_t live() const { return live_; }
  const std::vector<WarpSplit>& list() const { return list_; }
  std::vector<WarpSplit>& list() { return list_; }
  WarpSplit& current() { return list_[current_]; }
  bool is_current_split_ready() const {
    return current_ < list_.size() && list_[current_].state == WarpSplit::State::ready;
  }
  size_t count_ready_splits() const;
  // Makes the next ready split the current one. False: no split is ready.
  bool choose_next_ready_split();
  // Makes a random ready split the current one, if there is one.
  void choose_random_ready_split(Random& random);

  // If the current split is at its join, it waits there, or continues with all joined lanes if it
  // is the last to arrive. False: it waits, and the caller must choose another split.
  bool try_pass_join();
  // Sends `lanes` of the current split to the branch's target. True: the split diverged.
  bool send_lanes_to_branch_target(const Inst& in, uint32_t lanes);
  // The current split continues at my_pc with the lanes of my_mask; the other lanes become a new
  // split.
  void diverge(uint32_t other_pc, uint32_t other_mask, uint32_t my_pc, uint32_t my_mask,
               ReconvergenceJoin* join);
  // The join at which the lanes of the split wait for each other after the branch `in`.
  ReconvergenceJoin* join_of_branch(const Inst& in, const WarpSplit& split);
  // A join for all lanes of the split at `pc`. An existing one is reused.
  ReconvergenceJoin* find_or_make_join(uint32_t pc, int reconvergence, const WarpSplit& split);
  // The current (or newest) split has taken a branch. Its lanes leave every join that they can no
  // longer reach, and will meet the other lanes where all paths of the branch reconverge.
  void current_leaves_joins(const Inst& in) { leave_unreachable_joins(current_, in); }
  void last_leaves_joins(const Inst& in) { leave_unreachable_joins(list_.size() - 1, in); }
  // The lanes of the current split enter the callee.
  void enter_callee(CallFrame* callee, uint32_t lanes);
  // Lanes of the current split return or exit, and every join on their way stops expecting them.
  void return_or_exit(uint32_t lanes, bool to_caller);

  // The barrier of the block, or of the cluster, that the split waits for has completed.
  void release_split_from_barrier(uint32_t split_id);
  // Called when the current split spins and may be waiting for lanes that wait in a join. Releases
  // the innermost join with waiting lanes. It may be the return point of a function, because a
  // function may take the lock. False: no lanes wait in a join.
  bool release_innermost_join();
  // Called when no split can run. Releases lanes that wait in a join of the kernel from which they
  // can only exit: barriers and warp operations wait for lanes that have not exited. False: there
  // are no such lanes.
  bool release_join_lanes_to_exit();
  // Called when no split can run and a warp barrier waits for lanes in a join. Releases these
  // lanes, so that they exit or reach the barrier. False: there are no such lanes.
  bool release_join_lanes_for_warp_barrier();
  // Does for a barrier of the block what release_join_lanes_for_warp_barrier() does for a barrier
  // of the warp.
  bool release_join_lanes_for_block_barrier();

 private:
  ReconvergenceJoin* make_join();
  ReconvergenceJoin* make_join(uint32_t pc, int reconvergence, const WarpSplit& split,
                               uint32_t expected, ReconvergenceJoin* parent);
  void free_join(ReconvergenceJoin* join) { free_joins_.push_back(join); }
  void leave_unreachable_joins(size_t which, const Inst& in);
  void push_split_of_arrived(const ReconvergenceJoin& join);
  void complete_join(ReconvergenceJoin* join);
  void release_waiting_lanes(ReconvergenceJoin* join);

  CallFramePool& frames_;
  uint32_t live_ = 0;
  std::vector<WarpSplit> list_;
  size_t current_ = 0;
  uint32_t next_id_ = 0;
  std::vector<std::unique_ptr<ReconvergenceJoin>> joins_;  // all that were created
  std::vector<ReconvergenceJoin*> free_joins_;
};

// Whether lanes of a warp only synchronise at the instruction and exchange no data.
inline bool is_warp_barrier(const Inst& in) {
  return in.ptx->op->traits.sync == ptx::InstructionSync::warp_barrier;
}

}  // namespace lab32::sim
