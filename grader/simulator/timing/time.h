// Predicts the time of a launch from the simulator's counts and a device profile: the time of the
// slowest resource of the machine, each of which is computed separately (README.md derives them).
// The result is always modelled, never measured.
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
struct Work {
  uint64_t blocks = 0;
  uint32_t warps_per_block = 0;
  Occupancy occupancy;
  bool warm = false;  // true: launches in a row, L2 as they leave it; false: one launch, L2 empty

  IssueSlots issue;  // sums over all warps

  double barriers = 0;  // barrier arrivals of warps

  // The cycles of the multiprocessor that finishes last (multiprocessor.h), with the profile's
  // latencies and its share of L2 and device memory; and without contention for these two.
  double cycles = 0, cycles_alone = 0;
  double busiest = 0;  // its instructions, relative to the mean of all; 0: not known

  double splits = 0;  // how often the lanes of a warp diverged

  double shared_wavefronts = 0, shared_ideal = 0;  // wavefronts of loads, stores and atomics
  double shared_requests = 0;                      // instructions
  double shared_spins = 0;  // attempts of compare-and-swap loops: sums of floats and of 64 bits

  // The cycles in which L1 is busy with loads, and with stores and atomics
  // (simulator/observers/caches/cache_record.h).
  double l1_load_cycles = 0, l1_store_cycles = 0;
  double global_requests = 0, global_loads = 0;  // instructions
  double l1_hits = 0, l2_hits = 0;               // hit rates of the sectors that warps load
  double l2_sectors = 0;                         // lookups in both sides of L2
  double l2_read_lines = 0, l2_write_lines = 0, l2_fills = 0;
  double atomics = 0, busiest_slice = 0;   // in units of an integer addition
  double dram_pages = 0;                   // pages of device memory that had to be opened
  double dram_read = 0, dram_written = 0;  // bytes
};

struct Resource {
  std::string name;            // "DRAM", "L2", "L1", "shared memory", "issue", "latency", ...
  double seconds = 0;          // the time of the launch if only this resource bounded it
  double share = 0;            // relative to the predicted time: the length of its bar, 0..1
  std::string words;           // "DRAM: 134.2 MB at 4.2 TB/s"
  bool is_less_exact = false;  // the pipeline of doubles or of special functions
};

// The predicted time of a launch; always reported as *modelled*.
struct Prediction {
  // The time between events around the launch; for many launches in a row, from one to the next.
  double seconds = 0;
  double kernel_seconds = 0;  // the kernel alone: Nsight Compute's gpu__time_duration.sum
  // The mean absolute relative error for kernels of this length that had no part in the model, and
  // are as difficult for it.
  double error = 0;
  // Why the prediction is known to be wrong; it is not shown then. Empty: it is not known to be.
  std::string unreliable = {};
  std::vector<Resource> resources;  // longest first
  std::string bottleneck;           // resources[0].words as a sentence: "bound by ..."
  std::string runner_up;
};

// The time of L2 and device memory for the data that a launch moves.
double memory_seconds(const Profile& profile, const Work& work);
// The time of the busiest slice of L2 for its atomics.
double atomic_seconds(const Profile& profile, const Work& work);
// 1: device memory is written as much as read; 0: it is only read or only written.
double both_ways(const Work& work);

Prediction predict(const Profile& profile, const Work& work);

// The launch's accesses that could not be matched with the machine code.
struct UnmatchedAccesses {
  bool any = false, atomics = false;
};

// Adds to the prediction what the launch tells about its quality: its error is larger if accesses
// are unmatched, if doubles or special functions dominate, or if blocks do unequal work; with
// unmatched atomics the prediction is unreliable.
void qualify(Prediction& prediction, const Work& work, const UnmatchedAccesses& unmatched);

// The work of a copy that moves `bytes` in total, half of them reads and half writes, 16 per
// thread, with an empty L2.
Work copy_work(const Profile& profile, uint64_t bytes);

}  // namespace lab32::model
