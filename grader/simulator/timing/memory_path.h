// What a multiprocessor's accesses wait for: L1 and the banks of shared memory, one access behind
// the other, and behind them its share of L2 and of device memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulator/timing/profile.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

// The golden section: the fractional parts of its multiples are spread evenly between 0 and 1.
constexpr double kGolden = 0.6180339887498949;

// Cycles until an instruction that is served has read its operands.
constexpr double kOperandsRead = 8;

constexpr size_t kLoadGroups = 32;  // TraceInstruction::group is below

// How often a warp has issued each load.
struct LoadHistory {
  std::array<uint32_t, kLoadGroups> asked{};
};

class MemoryPath {
 public:
  // `congestion`: how much longer loads take because L2 and device memory are busy.
  MemoryPath(const Time& time, const SmWork& work, double congestion);

  struct Times {
    double ready = 0;  // the result has come
    double read = 0;   // the operands have been read
  };
  Times shared(const TraceInstruction& in, double now);
  Times global(const TraceInstruction& in, double now, uint64_t warp, LoadHistory& history);

  // Before that a warp cannot issue an access: too many wait.
  double open() const;
  double end() const;                           // all has been served
  double busy_cycles() const { return busy_; }  // of L2 and device memory

 private:
  bool waits(const TraceInstruction& in, uint64_t warp, LoadHistory& history, bool& late);

  // The atomics' part of an access that L1 has passed on by then. Returns when it has been served.
  double update(const TraceInstruction& in, double now);

  const double memory_cycles_, update_cycles_, congestion_;
  const double shared_latency_, l1_latency_, l2_latency_, dram_latency_, first_access_;
  double lsu_ = 0, stores_ = 0, memory_ = 0, updates_ = 0;  // taken until then
  double known_ = -1;                                       // where the first page lies
  double busy_ = 0, between_ = 0;                           // between_: since the last update
  std::array<uint64_t, kLoadGroups> first_misses_{}, late_misses_{};
};

}  // namespace lab32::model
