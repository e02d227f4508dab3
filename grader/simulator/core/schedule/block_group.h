// The blocks of a cluster: their shared barrier (PTX ISA, "barrier.cluster"), which of them have
// exited, their round-robin execution on one host thread, and their results. A block without a
// cluster is a group of one.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
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
  void save_output(Block& block) {
    std::string text = block.take_output();
    // Blocks run in increasing order. After more output than the limit, a block's text would be
    // dropped anyway, and the loss is already known.
    if (text.empty() || output_bytes > kOutputLimit) return;
    output_bytes += text.size();
    if (output_bytes > kOutputLimit) block.mute();
    output.emplace(block.info().index, std::move(text));
  }
  // Takes the results out of the Block, once, after its last block.
  void take(Block& block) {
    block.settle_runs();
    tally = std::move(block.tally());
    longest_warp = block.longest_warp();
    busiest_warp = block.busiest_warp();
    longest_wait = block.longest_wait();
    warps = std::move(block.warp_tally());
    bad_access = block.faults().first_bad_access();
    uninitialised = block.faults().first_uninitialised();
    out_of_range_amount = block.out_of_range_amount();
  }

  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<IssueTally> tally;
  std::map<uint64_t, std::string> output;
  size_t output_bytes = 0;
  // An exception other than Trap and OrderMatters: the machine failed, or the simulator has a bug.
  std::exception_ptr error;
  std::optional<Trap> trap, bad_access, uninitialised;
  std::optional<OutOfRangeAmount> out_of_range_amount;
  uint64_t longest_warp = 0, busiest_warp = 0, longest_wait = 0;
  WarpTally warps;
};

// ---------------------------------------------------------------------------------------------

class ClusterBarrier final : public ClusterContext {
 public:
  ClusterBarrier(const LaunchContext& launch, bool undefined);

  // `blocks`: by rank; all have been started.
  void begin(std::vector<Block*> blocks);

  void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void threads_exited(uint32_t rank, bool all) override;

 private:
  // Lanes of a warp that have arrived in the current phase, or in the previous phase without having
  // waited for its end.
  struct Lanes {
    uint32_t now = 0, before = 0;
  };
  struct WaitingSplit {
    uint32_t rank;
    Warp* warp;
    uint32_t split, mask;
  };
  bool all_came() const;
  void complete();

  std::vector<Block*> blocks_by_rank_;
  std::vector<std::array<Lanes, 32>> lanes_;  // by rank and warp
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
             OrderGuard::Worker* guard, const RaceFilter* suspects);

  // The number of groups of a launch.
  static uint64_t count(const LaunchContext& launch) {
    return launch.grid.count() / launch.cluster.count();
  }

  // Starts group number `nth`. A trap, here or in the functions below, is stored in the result of
  // its block.
  void begin(uint64_t nth);
  // These do for all blocks of the group what the functions of Block do for one.
  Block::State resume(uint64_t slice);
  Block::State resume_at_random(Random& random);
  bool take_polled();
  uint64_t issued() const;
  uint64_t local_bytes() const;
  uint64_t issued_at(uint32_t site) const;
  uint32_t polling_site() const;
  // Linear index of its first block.
  uint64_t first_block() const { return members_.front()->block.info().index; }
  bool trapped() const { return trapped_; }
  // Records a trap of the first block, because the group as a whole cannot continue.
  void trap(Trap trap);

  // Saves the printf output after the blocks have ended or trapped, or when the launch stops.
  void save_output();
  // Takes the results, once, after the last group.
  void take();
  void add_results(std::vector<WorkerResult*>& all);

 private:
  struct BlockOfGroup {
    BlockOfGroup(const LaunchContext& launch, const std::vector<Observer*>& observers,
                 OrderGuard::Worker* guard, const RaceFilter* suspects, ClusterContext* cluster,
                 uint32_t rank)
        : result(observers), block(launch, result.own_observers(), guard, suspects, cluster, rank) {
      if (suspects != nullptr)
        for (const auto& o : result.observers) o->follow_order();
    }
    WorkerResult result;
    Block block;
    bool ended = false;
  };
  uint64_t index_of(uint64_t nth, uint32_t rank) const;
  // Runs `what` for a member and stores its trap.
  template <class What>
  void run(BlockOfGroup& member, What what);
  Block::State run_round_robin(uint64_t slice);
  void end(BlockOfGroup& member);
  void trap_stuck_group();

  const LaunchContext& launch_;
  std::optional<ClusterBarrier> cluster_;
  std::vector<std::unique_ptr<BlockOfGroup>> members_;
  bool trapped_ = false;
};

}  // namespace lab32::sim
