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
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "simulator/core/schedule/block_group.h"

namespace lab32::sim {

class ResidentBlocks {
 public:
  // `guard`, `suspects`: as in Block, for all blocks.
  ResidentBlocks(const LaunchContext& launch, const std::vector<Observer*>& observers,
                 OrderGuard::Worker* guard = nullptr, const RaceFilter* suspects = nullptr);

  // Runs the blocks from `first` on until all have ended, one traps, or about `most` instructions
  // were issued. Throws OrderMatters and other exceptions, but never a Trap.
  void run(uint64_t first = 0, uint64_t most = std::numeric_limits<uint64_t>::max());
  // Instructions issued so far.
  uint64_t issued() const { return issued_; }
  // One result for each block that was ever resident at the same time.
  std::vector<WorkerResult*> results();

 private:
  struct Slot {
    Slot(const LaunchContext& launch, const std::vector<Observer*>& observers,
         OrderGuard::Worker* guard, const RaceFilter* suspects)
        : group(launch, observers, guard, suspects) {}
    BlockGroup group;
    bool busy = false;
  };
  void run_blocks(uint64_t first);
  void run_at_random();
  void begin_any(std::vector<uint64_t>& arrived, Random& random);
  // Starts a group in the slot; it may trap at once.
  void begin(Slot& slot, uint64_t index);
  // `slice` runs the slot's blocks for a while.
  template <class Slice>
  void resume(Slot& slot, Slice slice);
  bool all_poll();
  Slot& free_slot();
  // Counts the issued instructions that can release another block, such as stores (is_progress()).
  uint64_t progress_events() const;
  // Whether the kernel reads a clock, so that a loop without progress since `moved_at` may still
  // end by itself.
  bool may_time_out(uint64_t moved_at) const;
  void report_deadlock(uint64_t next);
  uint64_t number_of(uint64_t nth) const;

  const LaunchContext& launch_;
  const std::vector<Observer*>& observers_;
  OrderGuard::Worker* guard_;
  const RaceFilter* suspects_;
  std::vector<uint32_t> progress_sites_;
  bool reads_clock_ = false;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<Slot*> residents_;
  // The groups of the launch, and the groups that the device holds at once.
  const uint64_t groups_, capacity_;
  uint64_t slice_ = Block::kWarpSlice;
  uint64_t issued_ = 0, most_ = 0;
};

}  // namespace lab32::sim
