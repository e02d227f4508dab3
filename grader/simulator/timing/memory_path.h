// The memory path of one multiprocessor: accesses queue for L1 and the banks of shared memory, and
// behind them for the multiprocessor's share of L2 and of device memory. All times are in cycles
// since the start of the launch.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "simulator/timing/profile.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

// The golden ratio: the fractional parts of its multiples are evenly distributed between 0 and 1.
constexpr double kGolden = 0.6180339887498949;

// Cycles from the start of service until an instruction has read its operands.
constexpr double kOperandsRead = 8;

constexpr size_t kLoadGroups = 32;  // upper bound of TraceInstruction::group

// The number of times that a warp has issued each load.
struct LoadHistory {
  std::array<uint32_t, kLoadGroups> requests{};
};

class MemoryPath {
 public:
  // `congestion` is the factor by which loads take longer because L2 and device memory are busy.
  MemoryPath(const Time& time, const SmWork& work, double congestion);

  struct AccessTimes {
    double ready = 0;  // when the result is available
    double read = 0;   // when the operands have been read
  };
  AccessTimes shared(const TraceInstruction& in, double now);
  AccessTimes global(const TraceInstruction& in, double now, uint64_t warp, LoadHistory& history);

  // The earliest time at which a warp can issue an access; before that too many are waiting.
  double accepts_from() const;
  double end() const;                           // when all accesses have been served
  double busy_cycles() const { return busy_; }  // cycles in which L2 and device memory were busy

 private:
  bool waits_for_l2(const TraceInstruction& in, uint64_t warp, LoadHistory& history,
                    bool& waits_for_dram);

  // The atomic part of an access that L1 passes on at `now`. Returns the time when it has been
  // served.
  double update(const TraceInstruction& in, double now);

  const double memory_cycles_, update_cycles_, congestion_;
  const double shared_latency_, l1_latency_, l2_latency_, dram_latency_, first_access_;
  // Each unit is busy until this time.
  double l1_free_ = 0, stores_free_ = 0, memory_free_ = 0, updates_free_ = 0;
  // The time at which the address translation of the first page is known; -1: not yet requested.
  double first_page_known_ = -1;
  // Cycles in which L2 and device memory were busy: in total, and since the last update.
  double busy_ = 0, busy_since_update_ = 0;
  std::array<uint64_t, kLoadGroups> first_misses_{}, later_misses_{};
};

}  // namespace lab32::model
