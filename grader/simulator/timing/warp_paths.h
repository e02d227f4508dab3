// What the warps of a launch issue, in the order of the machine code, and which path each warp
// takes through it: the program that multiprocessor.h runs. It has no values: how often a block of
// the code runs is known on the mean only, and how many instructions each warp issued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab32::model {

struct TraceInstruction {
  // Who takes it; `none` issues and no more.
  enum class Unit : uint8_t { none, fma, multiply, alu, half, fp64, special, memory, barrier };
  enum class Kind : uint8_t {
    plain,
    shared,        // a load, store or atomic of shared memory, a shuffle
    global_load,   // also atomics whose result is needed
    global_store,  // also atomics without a result
    copy,          // an asynchronous copy, awaited by copy_wait
    commit,        // its group ends
    copy_wait,
    barrier,
    branch,
    meet,  // lanes that took different paths wait for each other
  };
  // Of a loop of compare-and-swap: where a round begins, and where it is known whether it took.
  enum class Spin : uint8_t { none, load, swap };
  Unit unit = Unit::none;
  Kind kind = Kind::plain;
  Spin spin = Spin::none;
  uint8_t slots = 1;  // that it is issued in
  uint16_t line = 0;  // of the instruction cache, kCodeLine bytes each
  float turns = 1;    // that its unit takes for it
  // Operands of even and of odd registers: each half of the register file gives one a cycle.
  std::array<uint8_t, 2> banks{};
  float latency = 0;  // cycles until a dependent instruction can be issued
  float busy = 1;     // of memory: cycles that L1 or the banks take
  // Of loads: how many of them wait for L2, and of these, for device memory; of a warp's first
  // ones, and of those behind them.
  uint8_t group = 0;  // copies of one load, which count together
  float first_misses = 0, first_late = 0, misses = 0, late = 0;
  float weight = 0;   // what it moves beyond L1, in shares of an access
  float updates = 0;  // of an atomic: sectors that L2 updates
  // As ptxas scheduled it (sass::Control); else what it reads is waited for.
  bool scheduled = false;
  uint8_t stall = 0, waits_for = 0;
  int8_t write_barrier = -1, read_barrier = -1;
  std::vector<uint16_t> reads, writes;
};

// Loops of compare-and-swap run as often as a warp alone needs.
struct TraceBlock {
  std::vector<TraceInstruction> code;
  double runs = 0;            // per warp
  std::vector<size_t> loops;  // headers of the loops around it, the outermost first
};

// In the order of the code. Functions that the kernel calls stand behind it.
struct WarpTrace {
  std::vector<TraceBlock> blocks;
  size_t registers = 0;
  double splits = 0;  // how often the lanes of a warp part, per warp
  uint32_t lines = 0;
};

constexpr int kCodeLine = 128;  // bytes, eight instructions

// Instructions that a warp issues in all, on the mean.
double instructions_of(const WarpTrace& trace);

// How many of a whole number of turns fall to this number, of all from 0 on, where each has `rate`
// on the mean: the first get more.
uint64_t turns(uint64_t number, double rate);

// Where a warp stands among all of them: shares of the warps before it and of its equals, and its
// number among these.
struct WarpRank {
  double before = 0, equal = 1;
  uint64_t number = 0;
};

// The blocks that a warp runs, one after the other. What runs less than once per warp is run by
// some of them, those that stand first or, of those of equal rank, by their number. `times`: how
// long its loops are, against the mean.
std::vector<uint16_t> path_of(const WarpTrace& trace, uint64_t warp, double times,
                              const WarpRank& rank);
inline std::vector<uint16_t> path_of(const WarpTrace& trace, uint64_t warp, double times) {
  return path_of(trace, warp, times, {0, 1, warp});
}

// What one multiprocessor is given to run: the blocks of a launch, as far as they differ.
struct SmWork {
  uint64_t blocks = 0;
  uint32_t warps = 0;     // of a block
  uint32_t resident = 1;  // blocks
  // Instructions that each warp issued, warps of a block side by side; empty: all the same.
  std::vector<uint32_t> issued;
  // Cycles that L2 and device memory together take for a multiprocessor's sector.
  double memory_cycles = 0;
  // Cycles that the busiest slice of L2 takes for a sector that the multiprocessor's atomics
  // update.
  double update_cycles = 0;
  // Loops of compare-and-swap on shared memory: the share of the rounds of the block's other warps
  // that change the word that one wants to change (SpinObserver in
  // simulator/observers/traffic/traffic.h).
  double shared_words = 0;
  double last_lanes = 1;  // of such a loop: lanes in its last round
  double both_ways = 0;   // 1: device memory is written as much as read; 0: one of them alone
};

// How long a multiprocessor took.
struct SmTiming {
  double cycles = 0;  // until the last warp has ended
  double blocks = 0;  // that the multiprocessor ran which was the last to finish
  double issued = 0;  // instructions of theirs
};

// Which path each warp takes through the machine code.
class WarpPaths {
 public:
  // Both must outlive this.
  WarpPaths(const WarpTrace& trace, const SmWork& work);

  // The blocks that warp w of this block runs, one after the other.
  std::vector<uint16_t> path(uint64_t block, uint32_t w) const;

 private:
  double of_warp(uint64_t block, uint32_t w) const;
  double length(const std::vector<uint16_t>& path) const;
  WarpRank rank(uint64_t number) const;

  const WarpTrace& trace_;
  const SmWork& work_;
  double mean_ = 0, in_loops_ = 0;  // instructions of the trace
  double mean_issued_ = 0;
  bool meets_in_loop_ = false;
  struct IssueGroup {
    uint32_t issued = 0;
    double more = 0, equal = 0;  // shares of the warps
  };
  std::vector<IssueGroup> issue_groups_;  // by what they issued, the most first
  std::vector<uint32_t> nth_;             // of each warp, among those that issued as much
};

}  // namespace lab32::model
