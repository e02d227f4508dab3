// Runs blocks of one launch on one host thread, one after the other: their warps and barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/schedule/block_barriers.h"
#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// What each warp issued, without what it waited: warps of a block side by side, the blocks in the
// order in which they ended.
struct WarpTally {
  std::vector<uint64_t> blocks;
  std::vector<uint32_t> issued;
};

class Block final : public BlockContext {
 public:
  // As BlockContext's.
  Block(const LaunchContext& launch, std::vector<Observer*> observers, OrderGuard::Worker* guard,
        const RaceFilter* suspects = nullptr, ClusterContext* cluster = nullptr, uint32_t rank = 0);

  // Starts block `index`, which resume() then runs.
  void begin(uint64_t index);
  // polls: every warp that could run read, and had used up its time slice reading, device memory in
  // ways by which one waits for another block. Throws Trap or OrderMatters.
  enum class State : uint8_t { done, polls };
  State resume(uint64_t slice = kWarpSlice);
  // The same, of a block in a cluster: one slice of each warp. stuck: all wait.
  enum class SliceResult : uint8_t { done, moved, polls, stuck };
  SliceResult run_slice_of_each_warp(uint64_t slice);
  // Likewise, one slice of any warp that can go on.
  SliceResult run_random_slice(Random& random);
  // Behind SliceResult::done, once.
  void end();
  // Tells the launch's meter what it has not been told yet. Once no more blocks come: a block of
  // several host threads' does not tell it at its end. Throws Trap at a limit.
  void flush_meter();
  // Behind SliceResult::stuck: traps; or, in a launch that keeps going, lets one of the waiting
  // operations go on.
  void deadlock();
  // Whether something in the block itself is waited for, besides the cluster's barrier.
  bool waits_within() const;
  const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
  // One slice of any warp that can go on. polls: there is more to do.
  State resume_at_random(Random& random);
  // Whether all its warps that can go on have polled since this was asked last.
  bool take_polled();
  uint64_t issued() const;
  // Warps of a block take time slices of so many instructions, so that one that spins on what
  // another warp of the block will write does not run for ever.
  static constexpr uint64_t kWarpSlice = 20'000;

  uint64_t longest_warp() const { return longest_warp_; }
  uint64_t longest_wait() const { return longest_wait_; }
  // The same without time slices in which a warp waited for others.
  uint64_t busiest_warp() const { return busiest_warp_; }
  // Where the launch asks for it, of its first kMostWarpsNoted warps.
  WarpTally& warp_tally() { return warp_tally_; }
  static constexpr uint64_t kMostWarpsNoted = 2'000'000;
  // Where the first of its warps that polls stands.
  uint32_t polling_site() const;

  void arrive(Warp& warp, uint32_t mask, std::byte* regs, const Arrival& arrival) override {
    barriers_.arrive(warp, mask, regs, arrival);
  }
  void threads_exited() override { barriers_.threads_exited(); }

 private:
  // What a warp has issued, for the launch's meter. Throws Trap at a limit.
  void meter(uint64_t issued);
  uint64_t longest_warp_now() const;

  std::vector<std::unique_ptr<Warp>> warps_;
  BlockBarriers barriers_;
  uint64_t longest_warp_ = 0, busiest_warp_ = 0, longest_wait_ = 0;
  WarpTally warp_tally_;
  uint64_t not_metered_ = 0;  // instructions
};

}  // namespace lab32::sim
