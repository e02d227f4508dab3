// What the warps of a launch issue, in the order of the machine code: the program that
// multiprocessor.h runs. It has no values: how often a block runs is known, and not which way each
// warp took.
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
    meet,  // lanes that took different ways wait for each other
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

// Where a warp stands among all of them: shares of those before it and of those beside it, and its
// number among these.
struct Standing {
  double before = 0, beside = 1;
  uint64_t number = 0;
};

// The blocks that a warp runs, one after the other. What runs less than once per warp is run by
// some of them, those that stand first or, of those that stand alike, by their number. `times`: how
// long its loops are, against the mean.
std::vector<uint16_t> way_of(const WarpTrace& trace, uint64_t warp, double times,
                             const Standing& standing);
inline std::vector<uint16_t> way_of(const WarpTrace& trace, uint64_t warp, double times) {
  return way_of(trace, warp, times, {0, 1, warp});
}

}  // namespace lab32::model
