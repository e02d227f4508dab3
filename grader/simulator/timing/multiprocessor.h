// Simulates the timing of one multiprocessor: its warps issue the machine code in order, each
// instruction when its operands are available and its unit is free. Behind L1 the multiprocessor
// has its share of L2 and of device memory. The result is the time of the multiprocessor that
// finishes last, and therefore of the launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "simulator/timing/profile.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

// The golden ratio: the fractional parts of its multiples are evenly distributed between 0 and 1.
constexpr double kGolden = 0.6180339887498949;

// Cycles from the start of service until an instruction has read its operands.
constexpr double kOperandsRead = 8;

constexpr size_t kLoadGroups = 32;  // upper bound of ModelledInstruction::group

// For each load of the code: how often a warp has issued it.
struct WarpIssuesPerLoad {
  std::array<uint32_t, kLoadGroups> requests{};
};

// The memory path: accesses queue for L1 and the banks of shared memory, and behind them for the
// multiprocessor's share of L2 and of device memory. All times are in cycles since the start of the
// launch.
class MemoryPath {
 public:
  // `congestion` is the factor by which loads take longer because L2 and device memory are busy.
  MemoryPath(const TimeParameters& time, const SmWork& work, double congestion);

  struct ResultAndOperandTimes {
    double ready = 0;  // when the result is available
    double read = 0;   // when the operands have been read
  };
  ResultAndOperandTimes access_shared(const ModelledInstruction& in, double now);
  ResultAndOperandTimes access_global(const ModelledInstruction& in, double now, uint64_t warp,
                                      WarpIssuesPerLoad& history);

  // The earliest time at which a warp can issue an access; before that too many are waiting.
  double accepts_from() const;
  double end() const;                           // when all accesses have been served
  double busy_cycles() const { return busy_; }  // cycles in which L2 and device memory were busy

 private:
  bool is_next_access_l1_miss(const ModelledInstruction& in, uint64_t warp,
                              WarpIssuesPerLoad& history, bool& waits_for_dram);

  // Serves the atomic part of an access that leaves L1 at time `now`. Returns the time when L2 has
  // served it.
  double serve_atomic(const ModelledInstruction& in, double now);

  const double memory_cycles_, update_cycles_, congestion_;
  const double shared_latency_, l1_latency_, l2_latency_, dram_latency_, first_access_;
  // The times until which the units are busy.
  double l1_free_ = 0, stores_free_ = 0, memory_free_ = 0, updates_free_ = 0;
  // The time at which the address translation of the first page is known; -1: not yet requested.
  double first_page_known_ = -1;
  // The number of cycles in which L2 and device memory were busy: in total, and since the last
  // atomic.
  double busy_ = 0, busy_since_update_ = 0;
  std::array<uint64_t, kLoadGroups> first_misses_{}, later_misses_{};
};

// The warps of one multiprocessor, instruction by instruction: four schedulers, the units that
// execute instructions, barriers, and the resident blocks. run_multiprocessor() calls run() once
// per iteration of its fixed point. Times are in cycles.
class SmWarps {
 public:
  // `congestion`: see MemoryPath. All other arguments must outlive this object.
  SmWarps(const DeviceProfile& profile, const AverageWarpTrace& trace, const SmWork& work,
          const WarpPathChooser& paths, double congestion);

  // Runs these blocks until the last one has ended.
  SmTiming run(const std::vector<uint64_t>& blocks);
  // The cycles in which L2 and device memory were busy.
  double memory_cycles() const { return memory_.busy_cycles(); }

 private:
  static constexpr size_t kSchedulers = 4, kUnits = 9, kBarriers = 6;

  struct WarpState {
    std::vector<uint16_t> path;
    size_t block = 0, instruction = 0;  // position in the path
    const ModelledInstruction* in = nullptr;
    double next = 0;  // when `in` has its operands
    double free = 0;  // the time when `in` could be issued if it had no operands
    size_t scheduler = 0;
    size_t resident = 0;  // index of its block's ResidentBlock
    uint64_t number = 0;
    double copied = 0;
    std::deque<double> groups;
    std::vector<double> ready;
    // The state of a compare-and-swap loop. read_at: the time when the word was read. failed_share:
    // the accumulated share of failed attempts. lanes: those that must still succeed. The flags say
    // whether this attempt failed, whether it is a retry, and whether its swap has been issued.
    double read_at = 0, failed_share = 0, lanes = 1;
    bool failed = false, is_retry = false, swapped = false;
    std::array<double, kBarriers> barriers{};  // sass::SassControlCode: when each barrier is clear
    WarpIssuesPerLoad history;
  };

  struct ResidentBlock {
    size_t live = 0, arrived = 0;
    double last = 0;  // time of the last arrival
    std::vector<size_t> warps;
    // The time of each recent swap, and the number of its warp.
    std::deque<std::pair<double, uint64_t>> swaps;
  };

  void begin_block(size_t p, uint64_t block, double now);
  void advance_and_set_issue_time(WarpState& warp);
  size_t unit_of_instruction(const ModelledInstruction& in, size_t s, double now) const;
  void choose_next_warp(size_t s);
  bool is_preferred_warp(size_t slot, size_t s) const;
  void issue_instruction(WarpState& warp, double now);
  void schedule_after_branch(WarpState& warp, double now);
  MemoryPath::ResultAndOperandTimes issue_access(WarpState& warp, double now);
  static bool is_branch_taken(const WarpState& warp);
  static bool is_next_basic_block_different(const WarpState& warp);
  void attempt_compare_and_swap(WarpState& warp, double served);
  void arrive_at_barrier(WarpState& warp, double now);
  void release_waiting_warps(ResidentBlock& place);
  void end_warp(WarpState& warp);

  const TimeParameters& t_;
  const AverageWarpTrace& trace_;
  const SmWork& work_;
  const WarpPathChooser& paths_;
  MemoryPath memory_;
  // Cycles between two instructions that a scheduler issues to the unit.
  std::array<double, kUnits> every_{};
  double mean_ = 0;      // mean number of instructions of a warp
  double launcher_ = 0;  // cycles that the launcher needs for each ended block
  double reconvergences_ = 0, divergence_rate_ = 0;
  std::vector<double> lines_;  // when each line of instructions has been fetched
  std::vector<WarpState> warps_;
  std::vector<ResidentBlock> resident_;
  std::array<std::vector<size_t>, kSchedulers> of_scheduler_;
  std::array<std::array<double, kUnits>, kSchedulers> units_{};
  // The time until which each register bank is busy.
  std::array<std::array<double, 2>, kSchedulers> banks_{};
  std::array<double, kSchedulers> slots_{}, chosen_time_{};
  std::array<size_t, kSchedulers> chosen_{}, last_{};
  std::array<bool, kSchedulers> stale_{true, true, true, true};
  double barrier_free_ = 0, warp_start_free_ = 0, launcher_free_ = 0, fetched_ = 0, exit_free_ = 0;
  double end_ = 0, issued_ = 0;
  size_t next_ = 0, ended_ = 0, freed_ = 0;
  // The scheduler to which the first warp of the next block is assigned.
  size_t first_ = 0;
};

// ---------------------------------------------------------------------------------------------

SmTiming run_multiprocessor(const DeviceProfile& profile, const AverageWarpTrace& trace,
                            const SmWork& work);

// The indices of the blocks that run on the multiprocessor that finishes last. When a block ends,
// the next one goes to the same multiprocessor. `work[i]` is the number of instructions of block i;
// if it is empty, there are `blocks` equal blocks. `warps` is the number of warps per block.
std::vector<uint64_t> blocks_of_slowest_multiprocessor(uint32_t multiprocessors, uint32_t resident,
                                                       uint64_t blocks, uint32_t warps,
                                                       const std::vector<uint64_t>& work);

}  // namespace lab32::model
