// Runs a launch on one host thread: its blocks one after the other, in order; blocks that wait for
// another one get time slices. Blocks of a cluster count as one here (block_group.h).
//
// A block that polls device memory (Block::State::polls) may be waiting for a block behind it. As
// on a GPU, it then stays where it is and the next block starts beside it, until as many reside as
// the device holds; those get time slices in the order of their numbers until one ends and leaves.
// Slices are counted in instructions, so every run is the same. When nobody has done anything but
// poll for long, they wait for what none of them will do, a deadlock, and that is a trap.
//
// A launch with a random schedule has several blocks under way from the start, any of those that
// the device could hold by then, and after each slice of a warp another goes on.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "simulator/core/schedule/block_group.h"

namespace lab32::sim {

class ResidentBlocks {
 public:
  // `guard`, `suspects`: Block's, of all blocks.
  ResidentBlocks(const LaunchContext& launch, const std::vector<Observer*>& observers,
                 OrderGuard::Worker* guard = nullptr, const RaceFilter* suspects = nullptr);

  // Runs all blocks from `first` on, or up to the first trap, or until about `most` instructions
  // were issued. Throws only what is no trap.
  void run(uint64_t first = 0, uint64_t most = std::numeric_limits<uint64_t>::max());
  // Instructions issued by now.
  uint64_t issued() const { return issued_; }
  // As many as blocks ever resided side by side.
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
  // Starts a group in it, which may trap at once.
  void begin(Slot& slot, uint64_t index);
  // `slice` runs the slot's blocks for a while.
  template <class Slice>
  void resume(Slot& slot, Slice slice);
  bool all_poll();
  Slot& free_slot();
  // How many instructions were issued by which a block may let another one go on (Traits).
  uint64_t progress_events() const;
  // What has not moved since so many instructions may still end by the clock.
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
  const uint64_t groups_, capacity_;  // of the launch; that the device holds at once
  uint64_t slice_ = Block::kWarpSlice;
  uint64_t issued_ = 0, most_ = 0;
};

}  // namespace lab32::sim
