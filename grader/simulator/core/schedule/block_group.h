// The blocks of a cluster: their shared barrier (PTX ISA, "barrier.cluster"), which of them have
// exited, their round-robin execution on one host thread, and their results. A block without a
// cluster is a group of one.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

// The runtime's FIFO of printf output holds 1 MiB. The simulator drops later output; the runtime
// overwrites the oldest.
constexpr size_t kOutputLimit = 1 << 20;

// The results of all blocks that one Block object has run.
struct WorkerResult {
  explicit WorkerResult(const std::vector<Observer*>& like) {
    for (Observer* o : like) observers.push_back(o->fork());
  }
  std::vector<Observer*> own_observers() const {
    std::vector<Observer*> own;
    for (const auto& o : observers) own.push_back(o.get());
    return own;
  }
  void save_printf_output(Block& block) {
    std::string text = block.take_output();
    // Blocks run in increasing order. After more output than the limit, a block's text would be
    // dropped anyway, and the loss is already known.
    if (text.empty() || output_bytes > kOutputLimit) return;
    output_bytes += text.size();
    if (output_bytes > kOutputLimit) block.mute();
    output.emplace(block.info().index, std::move(text));
  }
  // Takes the results out of the Block, once, after its last block.
  void take_results(Block& block) {
    block.flush_straight_line_run_counts();
    tally = std::move(block.tally());
    longest_warp = block.longest_warp();
    busiest_warp = block.busiest_warp();
    longest_wait = block.longest_wait();
    warps = std::move(block.warp_tally());
    bad_access = block.faults().first_bad_access();
    uninitialised = block.faults().first_uninitialised();
    out_of_range_shift_or_shuffle = block.out_of_range_shift_or_shuffle();
  }

  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<StaticInstructionIssueCounts> tally;
  std::map<uint64_t, std::string> output;
  size_t output_bytes = 0;
  // An exception other than Trap and OrderMatters: the machine failed, or the simulator has a bug.
  std::exception_ptr error;
  std::optional<Trap> trap, bad_access, uninitialised;
  std::optional<OutOfRangeShiftOrShuffle> out_of_range_shift_or_shuffle;
  uint64_t longest_warp = 0, busiest_warp = 0, longest_wait = 0;
  InstructionsIssuedByEachWarp warps;
};

// ---------------------------------------------------------------------------------------------

class ClusterBarrier final : public ClusterContext {
 public:
  ClusterBarrier(const LaunchContext& launch, bool undefined);

  // Prepares the barrier for the blocks of a cluster, which are sorted by rank and have all been
  // started.
  void begin(std::vector<Block*> blocks);

  void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void on_threads_exit(uint32_t rank, bool all) override;

 private:
  // Lanes of a warp that have arrived in the current phase, or in the previous phase without having
  // waited for its end.
  struct ArrivedLanes {
    uint32_t now = 0, before = 0;
  };
  struct WaitingSplit {
    uint32_t rank;
    Warp* warp;
    uint32_t split, mask;
  };
  bool all_threads_arrived() const;
  void complete();

  std::vector<Block*> blocks_by_rank_;
  std::vector<std::array<ArrivedLanes, 32>> lanes_;  // by rank and warp
  std::vector<WaitingSplit> waiting_;
  uint64_t phase_ = 0;
};

// ---------------------------------------------------------------------------------------------
// Blocks that run together: those of one cluster, or a single block. They start together, run
// round-robin on one host thread, and synchronise at barrier.cluster.

class BlockGroup {
 public:
  // `guard`, `suspects`: as in Block.
  BlockGroup(const LaunchContext& launch, const std::vector<Observer*>& observers,
             SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects);

  // The number of groups of a launch.
  static uint64_t group_count(const LaunchContext& launch) {
    return launch.grid.count() / launch.cluster.count();
  }

  // Starts group number `nth`. A trap, here or in the functions below, is stored in the result of
  // its block.
  void begin(uint64_t nth);
  // These do for all blocks of the group what the functions of Block do for one.
  Block::State resume(uint64_t slice);
  Block::State resume_random_warp(Random& random);
  bool test_and_clear_all_polled();
  uint64_t issued() const;
  uint64_t local_bytes() const;
  uint64_t issue_count_of_site(uint32_t site) const;
  uint32_t polling_site() const;
  // The linear index of the group's first block.
  uint64_t first_block() const { return members_.front()->block.info().index; }
  bool trapped() const { return trapped_; }
  // Records a trap of the first block, because the group as a whole cannot continue.
  void record_trap(Trap trap);

  // Saves the printf output after the blocks have ended or trapped, or when the launch stops.
  void save_printf_output();
  // Takes the results, once, after the last group.
  void take_results();
  void append_results_to(std::vector<WorkerResult*>& all);

 private:
  struct GroupMember {
    GroupMember(const LaunchContext& launch, const std::vector<Observer*>& observers,
                SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects,
                ClusterContext* cluster, uint32_t rank)
        : result(observers), block(launch, result.own_observers(), guard, suspects, cluster, rank) {
      if (suspects != nullptr)
        for (const auto& o : result.observers) o->begin_ordered_reports();
    }
    WorkerResult result;
    Block block;
    bool ended = false;
  };
  uint64_t block_index(uint64_t nth, uint32_t rank) const;
  // Calls `what`, which runs a member for a while. If it throws a trap, stores it in the member's
  // result.
  template <class What>
  void run_and_record_trap(GroupMember& member, What what);
  Block::State run_round_robin(uint64_t slice);
  void end(GroupMember& member);
  void trap_stuck_group();

  const LaunchContext& launch_;
  std::optional<ClusterBarrier> cluster_;
  std::vector<std::unique_ptr<GroupMember>> members_;
  bool trapped_ = false;
};

// ---------------------------------------------------------------------------------------------
// Runs a launch on one host thread: the blocks one after the other, with time slices for blocks
// that wait for another block. The blocks of a cluster count as one block here (block_group.h).
//
// A block that polls device memory (Block::State::polls) may be waiting for a later block. As on a
// GPU, it stays resident and the next block starts beside it, until the device is full. The
// resident blocks then get time slices in the order of their numbers until one ends. Slices are
// counted in instructions, so every run is the same. If all resident blocks have only polled for a
// long time, the launch is deadlocked and traps.
//
// A launch with a random schedule runs several of the blocks that the device could hold from the
// start, and switches to a random warp after each slice.

class ResidentBlockScheduler {
 public:
  // `guard`, `suspects`: as in Block, for all blocks.
  ResidentBlockScheduler(const LaunchContext& launch, const std::vector<Observer*>& observers,
                         SerialEquivalenceRollback::Worker* guard = nullptr,
                         const PossibleRaceDetector* suspects = nullptr);

  // Runs the blocks from `first` on until all have ended, one traps, or about
  // `max_issued_instructions` were issued. Throws OrderMatters and other exceptions, but never a
  // Trap.
  void run(uint64_t first = 0,
           uint64_t max_issued_instructions = std::numeric_limits<uint64_t>::max());
  // Instructions issued so far.
  uint64_t issued() const { return issued_; }
  // One result for each block that was ever resident at the same time.
  std::vector<WorkerResult*> results();

 private:
  struct GroupSlot {
    GroupSlot(const LaunchContext& launch, const std::vector<Observer*>& observers,
              SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects)
        : group(launch, observers, guard, suspects) {}
    BlockGroup group;
    bool busy = false;
  };
  void run_residents_round_robin(uint64_t first);
  void run_random_schedule();
  void begin_random_arrived_group(std::vector<uint64_t>& arrived, Random& random);
  // Starts a group in the slot; it may trap at once.
  void begin_group(GroupSlot& slot, uint64_t index);
  // `slice` runs the slot's blocks for a while.
  template <class Slice>
  void resume(GroupSlot& slot, Slice slice);
  bool test_and_clear_all_groups_polled();
  GroupSlot& free_or_new_slot();
  // Counts the issued instructions that can release another block, such as stores
  // (may_unblock_other_block()).
  uint64_t count_progress_events() const;
  // Whether the kernel reads a clock, so that a loop without progress since `moved_at` may still
  // end by itself.
  bool may_end_by_clock(uint64_t moved_at) const;
  void report_deadlock(uint64_t next);
  uint64_t number_of_nth_group(uint64_t nth) const;

  const LaunchContext& launch_;
  const std::vector<Observer*>& observers_;
  SerialEquivalenceRollback::Worker* guard_;
  const PossibleRaceDetector* suspects_;
  std::vector<uint32_t> progress_sites_;
  bool reads_clock_ = false;
  std::vector<std::unique_ptr<GroupSlot>> slots_;
  std::vector<GroupSlot*> residents_;
  // The groups of the launch, and the groups that the device holds at once.
  const uint64_t groups_, capacity_;
  uint64_t slice_ = Block::kWarpSlice;
  uint64_t issued_ = 0, most_ = 0;
};

}  // namespace lab32::sim
