// Predicts the time of a launch from the simulator's counts and a device profile. The time of each
// resource of the machine is computed separately, and the slowest resource determines the result
// (README.md has the derivation). The result is always modelled, never measured.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/timing/instruction_cost.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/profile.h"

namespace lab32::model {

// The work of a launch for each part of the machine: the complete input of the time model. The
// simulator counts it; no value depends on a clock rate or a bandwidth.
struct LaunchWorkCounts {
  uint64_t blocks = 0;
  uint32_t warps_per_block = 0;
  Occupancy occupancy;
  bool warm = false;  // true: launches in a row, L2 as they leave it; false: one launch, L2 empty

  IssueSlotsByPipeline issue;  // sums over all warps

  double barriers = 0;  // barrier arrivals of warps

  // cycles: those of the multiprocessor that finishes last (multiprocessor.h), with the profile's
  // latencies and its share of L2 and device memory. cycles_alone: the same without contention for
  // L2 and device memory.
  double cycles = 0, cycles_alone = 0;
  // Instructions of the busiest multiprocessor in relation to the mean of all; 0: not known.
  double busiest = 0;

  double splits = 0;  // how often the lanes of a warp diverged

  double shared_wavefronts = 0, shared_ideal = 0;  // wavefronts of loads, stores and atomics
  double shared_requests = 0;                      // instructions
  double shared_spins = 0;  // attempts of compare-and-swap loops: sums of floats and of 64 bits

  // The cycles for which L1 is busy with loads, and those with stores and atomics
  // (simulator/observers/caches/cache_record.h).
  double l1_load_cycles = 0, l1_store_cycles = 0;
  double global_requests = 0, global_loads = 0;  // instructions
  double l1_hits = 0, l2_hits = 0;               // hit rates of the sectors that warps load
  double l2_sectors = 0;                         // number of lookups, on both sides of L2 together
  double l2_read_lines = 0, l2_write_lines = 0, l2_fills = 0;
  double atomics = 0, busiest_slice = 0;   // in units of an integer addition
  double dram_pages = 0;                   // pages of device memory that had to be opened
  double dram_read = 0, dram_written = 0;  // bytes
};

struct ResourceTime {
  std::string name;    // "DRAM", "L2", "L1", "shared memory", "issue", "latency", ...
  double seconds = 0;  // the time that the launch would take if only this resource limited it
  double share = 0;    // in relation to the predicted time: the length of its bar, 0..1
  std::string words;   // "DRAM: 134.2 MB at 4.2 TB/s"
  // It is the pipeline of doubles or of special functions, whose time is less exact.
  bool is_less_exact = false;
};

// The predicted time of a launch; always reported as *modelled*.
struct TimePrediction {
  // The time between events before and after the launch. For many launches in a row: the time from
  // one launch to the next.
  double seconds = 0;
  double kernel_seconds = 0;  // the kernel alone: Nsight Compute's gpu__time_duration.sum
  // The mean absolute relative error of the model for kernels of this length that had no part in it
  // and are as difficult to predict.
  double error = 0;
  // The reason why the prediction is known to be wrong; it is not shown then. Empty: it is not
  // known to be wrong.
  std::string unreliable = {};
  std::vector<ResourceTime> resources;  // longest first
  std::string bottleneck;               // resources[0].words as a sentence: "bound by ..."
  std::string runner_up;
};

// The time of L2 and device memory for the data that a launch moves.
double memory_seconds(const DeviceProfile& profile, const LaunchWorkCounts& work);
// The time of the busiest slice of L2 for its atomics.
double atomic_seconds(const DeviceProfile& profile, const LaunchWorkCounts& work);
// 1: the launch writes as much of device memory as it reads; 0: it only reads, or only writes.
double read_write_mixing_degree(const LaunchWorkCounts& work);

TimePrediction predict(const DeviceProfile& profile, const LaunchWorkCounts& work);

// The launch's accesses that could not be matched with the machine code.
struct UnmatchedAccessesOfLaunch {
  bool any = false, atomics = false;
};

// Completes the prediction by its quality. Its error is larger if accesses are unmatched, if
// doubles or special functions dominate, or if blocks do unequal work. If atomics are unmatched,
// the prediction is unreliable.
void widen_error_estimate(TimePrediction& prediction, const LaunchWorkCounts& work,
                          const UnmatchedAccessesOfLaunch& unmatched);

// The work of a copy that moves `bytes` in total: half of them are read and half written, 16 bytes
// of each by each thread. L2 is empty at the beginning.
LaunchWorkCounts work_of_copy_kernel(const DeviceProfile& profile, uint64_t bytes);

}  // namespace lab32::model
