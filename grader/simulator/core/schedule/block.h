// Runs the blocks of one launch on one host thread, one after the other. begin() starts a block,
// and run_until_done_or_polling() runs its warps until the block is done or every warp polls. The
// Block owns the warps and the block's barriers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/warp/block_context.h"
#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// ---------------------------------------------------------------------------------------------
// The 16 barriers of a block (bar.sync, bar.arrive, bar.red): which threads have arrived and how
// many each barrier waits for. A warp arrives with a mask of lanes; the last arrival releases all
// waiting splits.

class BlockBarriers {
 public:
  using Warps = std::vector<std::unique_ptr<Warp>>;
  BlockBarriers(BlockContext& block, const Warps& warps) : block_(block), warps_(warps) {}
  // Resets all barriers for the next block.
  void reset_for_next_block();

  void arrive(Warp& warp, uint32_t mask, std::byte* regs,
              const BlockContext::BarrierArrival& arrival);
  // Called when threads exit. __syncthreads() waits only for threads that have not exited, so an
  // exit can complete it.
  void on_threads_exit();
  // Whether threads wait at any barrier.
  bool has_waiting_threads() const;
  // Called when no thread can run any more. Traps; in a launch that keeps going it releases the
  // threads at one barrier instead. False: no thread waits at any barrier.
  bool force_one_barrier();
  uint32_t count_live_threads() const;

 private:
  struct WaitingWarpSplit {
    uint32_t warp;
    uint32_t split;  // id of the split
    uint32_t mask;
    std::byte* regs;  // registers of the activation whose instruction waits
    const Inst* inst;
    bool waits;
  };
  struct Barrier {
    uint32_t arrived = 0, wanted = 0;
    uint32_t popc = 0;
    bool all = true, any = false;
    std::vector<WaitingWarpSplit> waiting;
    void reset();
  };
  // Completes a barrier. `forced`: although threads are missing.
  void complete(uint32_t barrier, bool forced = false);
  // Lanes of a warp that wait at two different barriers are a fault.
  void report_second_barrier(const Warp& warp, const WaitingWarpSplit& here);
  void report_skipped_barrier(const WaitingWarpSplit& here, const uint32_t* lane_mask_of_warp);

  BlockContext& block_;
  const Warps& warps_;
  std::array<Barrier, 16> barriers_;
};

// ---------------------------------------------------------------------------------------------

// The instructions that each warp issued, except those of time slices in which it only polled. The
// warps of a block are adjacent, and the blocks are in the order in which they ended.
struct InstructionsIssuedByEachWarp {
  std::vector<uint64_t> blocks;
  std::vector<uint32_t> issued;
};

class Block final : public BlockContext {
 public:
  // The parameters are BlockContext's.
  Block(const LaunchContext& launch, std::vector<Observer*> observers,
        SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects = nullptr,
        ClusterContext* cluster = nullptr, uint32_t rank = 0);

  // Starts block `index`, which run_until_done_or_polling() then runs.
  void begin(uint64_t index);
  // polls: every warp that can run has spent its time slice polling device memory, so the block may
  // be waiting for another block. Throws Trap or OrderMatters.
  enum class State : uint8_t { done, polls };
  State run_until_done_or_polling(uint64_t slice = kWarpSlice);
  // For a block of a cluster: runs one slice of each warp. stuck: all warps wait.
  enum class SliceResult : uint8_t { done, moved, polls, stuck };
  SliceResult run_slice_of_each_warp(uint64_t slice);
  // For a block of a cluster: runs one slice of a random warp that can run.
  SliceResult run_random_slice(Random& random);
  // Ends the block. The caller calls it once, after SliceResult::done.
  void end();
  // Adds the instructions that the launch's meter has not counted yet. The caller calls it once
  // more after the last block, because a Block of a parallel launch does not flush at the end of
  // each block. Throws Trap at a limit.
  void flush_meter();
  // After SliceResult::stuck: traps. In a launch that keeps going, it releases one of the waiting
  // operations instead.
  void trap_or_break_deadlock();
  // Whether a warp waits for something within the block, and not only for the cluster's barrier.
  bool has_warp_waiting_within_block() const;
  const std::vector<std::unique_ptr<Warp>>& warps() const { return warps_; }
  // Runs one slice of a random warp that can run. polls: the block is not done.
  State resume_random_warp(Random& random);
  // Whether all warps that can run have polled since the last call.
  bool test_and_clear_all_polled();
  uint64_t issued() const;
  // The time slice of a warp in instructions. Slices keep a warp that spins on another warp of its
  // block from running for ever.
  static constexpr uint64_t kWarpSlice = 20'000;

  uint64_t longest_warp() const { return longest_warp_; }
  uint64_t longest_wait() const { return longest_wait_; }
  // The most instructions that a warp issued, not counting time slices in which it only waited for
  // other warps.
  uint64_t busiest_warp() const { return busiest_warp_; }
  // Filled if the launch asks for it, for its first kMostWarpsNoted warps.
  InstructionsIssuedByEachWarp& warp_tally() { return warp_tally_; }
  static constexpr uint64_t kMostWarpsNoted = 2'000'000;
  // The site of the instruction that the first polling warp executes next.
  uint32_t polling_site() const;

  void arrive_at_cta_barrier(Warp& warp, uint32_t mask, std::byte* regs,
                             const BarrierArrival& arrival) override {
    barriers_.arrive(warp, mask, regs, arrival);
  }
  void on_threads_exit() override { barriers_.on_threads_exit(); }

 private:
  // Called now and then while warps run. Throws Trap if a warp repeats a loop for ever.
  void check_for_endless_loop();
  // Counts instructions of a warp for the launch's meter. Throws Trap at a limit.
  void charge_to_launch_limit(uint64_t issued);
  uint64_t most_issued_by_warp() const;

  std::vector<std::unique_ptr<Warp>> warps_;
  BlockBarriers barriers_;
  uint64_t longest_warp_ = 0, busiest_warp_ = 0, longest_wait_ = 0;
  InstructionsIssuedByEachWarp warp_tally_;
  uint64_t not_metered_ = 0;  // instructions
  uint64_t rounds_ = 0;       // number of calls of run_slice_of_each_warp() for the current block
};

}  // namespace lab32::sim
