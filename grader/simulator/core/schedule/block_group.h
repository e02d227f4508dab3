// The blocks of a cluster: the barrier that they share (PTX ISA, "barrier.cluster"), which of them
// are still there, how they take turns, and what they bring home.
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

// The runtime's FIFO of printf output holds 1 MiB; what comes after is dropped here. (There it
// pushes out the oldest.)
constexpr size_t kOutputLimit = 1 << 20;

// What the blocks that one Block object has run bring home.
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
    // Blocks come in increasing order: with more than this before it, a block's text is beyond the
    // limit, and that some is lost is known without it.
    if (text.empty() || output_bytes > kOutputLimit) return;
    output_bytes += text.size();
    if (output_bytes > kOutputLimit) block.mute();
    output.emplace(block.info().index, std::move(text));
  }
  // Once, when no more blocks come.
  void take(Block& block) {
    block.settle_runs();
    tally = std::move(block.tally());
    longest_warp = block.longest_warp();
    busiest_warp = block.busiest_warp();
    longest_wait = block.longest_wait();
    warps = std::move(block.warp_tally());
    bad_access = block.faults().first_bad_access();
    out_of_range_amount = block.out_of_range_amount();
  }

  std::vector<std::unique_ptr<Observer>> observers;
  std::vector<IssueTally> tally;
  std::map<uint64_t, std::string> output;
  size_t output_bytes = 0;
  std::exception_ptr error;  // neither trap nor order: the machine's fault, or ours
  std::optional<Trap> trap, bad_access;
  std::optional<OutOfRangeAmount> out_of_range_amount;
  uint64_t longest_warp = 0, busiest_warp = 0, longest_wait = 0;
  WarpTally warps;
};

// ---------------------------------------------------------------------------------------------

class ClusterBarrier final : public ClusterContext {
 public:
  ClusterBarrier(const LaunchContext& launch, bool undefined);

  // `blocks`: by rank; all have begun.
  void begin(std::vector<Block*> blocks);

  void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void threads_exited(uint32_t rank, bool all) override;

 private:
  // Lanes of a warp that have arrived: in the phase that lasts, or in the one before, whose end
  // they have not waited for.
  struct Lanes {
    uint32_t now = 0, before = 0;
  };
  struct Waiting {
    uint32_t rank;
    Warp* warp;
    uint32_t split, mask;
  };
  bool all_came() const;
  void complete();

  std::vector<Block*> blocks_by_rank_;
  std::vector<std::array<Lanes, 32>> lanes_;  // by rank and warp
  std::vector<Waiting> waiting_;
  uint64_t phase_ = 0;
};

// ---------------------------------------------------------------------------------------------
// Blocks that run together: those of one cluster, or one block alone. They begin together, take
// turns on one host thread, and meet at barrier.cluster.

class BlockGroup {
 public:
  // `guard`, `suspects`: Block's.
  BlockGroup(const LaunchContext& launch, const std::vector<Observer*>& observers,
             OrderGuard::Worker* guard, const RaceFilter* suspects);

  // How many groups a launch has.
  static uint64_t count(const LaunchContext& launch) {
    return launch.grid.count() / launch.cluster.count();
  }

  // Starts the `nth` group. A trap is kept in the result of its block, here and below.
  void begin(uint64_t nth);
  // As Block's, of all of them.
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
  // Of the first block: the group as a whole can go no further.
  void trap(Trap trap);

  // When they have ended, or trapped, or run no further.
  void save_output();
  // Once, when no more come.
  void take();
  void add_results(std::vector<WorkerResult*>& all);

 private:
  struct Member {
    Member(const LaunchContext& launch, const std::vector<Observer*>& observers,
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
  // Runs `what` of a member, and keeps its trap.
  template <class What>
  void run(Member& member, What what);
  Block::State run_round_robin(uint64_t slice);
  void end(Member& member);
  void trap_stuck_group();

  const LaunchContext& launch_;
  std::optional<ClusterBarrier> cluster_;
  std::vector<std::unique_ptr<Member>> members_;
  bool trapped_ = false;
};

}  // namespace lab32::sim
