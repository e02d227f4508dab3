// The instructions that the warps of a launch issue, and the path of each warp through the machine
// code: the program that multiprocessor.h runs. It contains no data: the model knows only how often
// each block of code runs on average, and how many instructions each warp issued.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab32::model {

struct ModelledInstruction {
  // The unit that executes the instruction. none: it takes only an issue slot.
  enum class Unit : uint8_t { none, fma, multiply, alu, half, fp64, special, memory, barrier };
  enum class Kind : uint8_t {
    plain,
    shared,        // a load, store or atomic of shared memory, a shuffle
    global_load,   // or an atomic whose result is needed
    global_store,  // or an atomic without a result
    copy,          // an asynchronous copy, for which copy_wait waits
    commit,        // ends a group of asynchronous copies
    copy_wait,
    barrier,
    branch,
    meet,  // lanes that took different paths reconverge
  };
  // In a compare-and-swap loop. load: begins an attempt. swap: decides whether the attempt
  // succeeded.
  enum class Spin : uint8_t { none, load, swap };
  Unit unit = Unit::none;
  Kind kind = Kind::plain;
  Spin spin = Spin::none;
  uint8_t slots = 1;      // issue slots that it takes
  uint16_t line = 0;      // line of the instruction cache, of kCodeLine bytes
  float unit_passes = 1;  // passes through its unit
  // The number of operands from even and from odd registers. Each half of the register file
  // delivers one operand per cycle.
  std::array<uint8_t, 2> banks{};
  float latency = 0;  // cycles until a dependent instruction can be issued
  float busy = 1;     // memory accesses: cycles in which L1 or the banks are busy
  // For loads: the share that waits for L2, and the share of those that waits for device memory;
  // for a warp's first loads and for its later ones.
  uint8_t group = 0;  // copies of one load share a group
  float first_l1_misses = 0, first_l2_misses = 0, l1_misses = 0, l2_misses = 0;
  float weight = 0;   // the data that it moves beyond L1, in relation to those of an average access
  float updates = 0;  // for an atomic: sectors that L2 updates
  // true: ptxas' scheduling (sass::SassControlCode) is known; false: the instruction waits for
  // the registers that it reads.
  bool scheduled = false;
  uint8_t stall = 0, waits_for = 0;
  int8_t write_barrier = -1, read_barrier = -1;
  std::vector<uint16_t> reads, writes;
};

// A basic block of the trace. A block of a compare-and-swap loop counts as many runs as a warp
// would need if it were alone.
struct TraceBasicBlock {
  std::vector<ModelledInstruction> code;
  double runs = 0;            // per warp
  std::vector<size_t> loops;  // headers of the enclosing loops, the outermost first
};

// The blocks in the order of the code; functions that the kernel calls come last.
struct AverageWarpTrace {
  std::vector<TraceBasicBlock> blocks;
  size_t registers = 0;
  double splits = 0;  // divergences per warp
  uint32_t lines = 0;
};

constexpr int kCodeLine = 128;  // bytes, eight instructions

// The average number of instructions that a warp issues.
double instructions_per_warp(const AverageWarpTrace& trace);

// Distributes a fractional rate over whole numbers: if each item is to repeat `rate` times on
// average, item `number` repeats this many times. The sum over the first n items is n * rate,
// rounded.
uint64_t repetitions_of_nth_item(uint64_t number, double rate);

// The rank of a warp among all warps, sorted by the number of instructions that they issued.
// before: the share of warps with more instructions. equal: the share of warps with equally many.
// number: the warp's number among its equals.
struct WarpRankByInstructionCount {
  double before = 0, equal = 1;
  uint64_t number = 0;
};

// The blocks of code that a warp runs, in order. If a block runs less than once per warp, only some
// warps run it: those with the first ranks, and among equal ranks those chosen by their number.
// `iteration_ratio` is the number of iterations of the warp's loops in relation to the mean.
std::vector<uint16_t> path_of(const AverageWarpTrace& trace, uint64_t warp, double iteration_ratio,
                              const WarpRankByInstructionCount& rank);
inline std::vector<uint16_t> path_of(const AverageWarpTrace& trace, uint64_t warp,
                                     double iteration_ratio) {
  return path_of(trace, warp, iteration_ratio, {0, 1, warp});
}

// The work of one multiprocessor: the thread blocks that it runs, and how they differ.
struct SmWork {
  uint64_t blocks = 0;
  uint32_t warps = 0;     // warps per block
  uint32_t resident = 1;  // resident blocks per multiprocessor
  // The instructions that each warp issued, ordered by block and warp; empty: all warps issued
  // equally many.
  std::vector<uint32_t> issued;
  // The cycles that L2 and device memory together need for one sector of a multiprocessor.
  double memory_cycles = 0;
  // The cycles that the busiest slice of L2 needs for each sector that atomics of this
  // multiprocessor update.
  double update_cycles = 0;
  // For compare-and-swap loops on shared memory: the share of attempts of the block's other warps
  // that change the word that a warp wants to change (CasLoopContentionObserver in
  // simulator/observers/traffic/traffic.h).
  double shared_words = 0;
  double last_lanes = 1;  // for compare-and-swap loops: the number of lanes in the last attempt
  // 1: device memory is written as much as read; 0: it is only read, or only written.
  double read_write_mixing_degree = 0;
};

// The timing of the multiprocessor that finishes last.
struct SmTiming {
  double cycles = 0;  // cycles until the multiprocessor's last warp has ended
  double blocks = 0;  // blocks that the multiprocessor ran
  double issued = 0;  // instructions of these blocks
};

// Chooses the path of each warp through the machine code.
class WarpPathChooser {
 public:
  // Both arguments must outlive this object.
  WarpPathChooser(const AverageWarpTrace& trace, const SmWork& work);

  // The blocks of code that warp w of this thread block runs, in order.
  std::vector<uint16_t> estimated_path_of_warp(uint64_t block, uint32_t w) const;

 private:
  double instructions_issued_by(uint64_t block, uint32_t w) const;
  double instructions_on_path(const std::vector<uint16_t>& path) const;
  WarpRankByInstructionCount issue_count_rank_of_warp(uint64_t number) const;

  const AverageWarpTrace& trace_;
  const SmWork& work_;
  double mean_ = 0, instructions_in_loops_ = 0;  // average instructions of a warp
  double mean_issued_ = 0;
  bool barrier_in_loop_ = false;
  struct WarpsOfEqualIssueCount {
    uint32_t issued = 0;
    double more = 0, equal = 0;  // shares of all warps
  };
  std::vector<WarpsOfEqualIssueCount>
      issue_groups_;  // by number of issued instructions, descending
  std::vector<uint32_t>
      // For each warp: its number among those that issued equally many instructions.
      number_among_equals_;
};

}  // namespace lab32::model
