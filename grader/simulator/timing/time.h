// How long a launch would take, predicted from what the simulator counted and a device profile: the
// slowest of the machine's resources, each computed on its own (README.md derives them).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulator/timing/instruction_cost.h"
#include "simulator/timing/occupancy.h"
#include "simulator/timing/profile.h"

namespace lab32::model {

// What a launch asks of each part of the machine: all that the time model knows of it. Counted by
// the simulator; nothing here depends on a clock or a bandwidth.
struct Work {
  uint64_t blocks = 0;
  uint32_t warps_per_block = 0;
  Occupancy occupancy;
  bool warm = false;  // launches one behind the other, L2 as they leave it; else one, L2 empty

  IssueSlots issue;  // sums over all warps

  double barriers = 0;  // that warps come to

  // Cycles that the multiprocessor takes which is the last to finish (multiprocessor.h), with the
  // profile's latencies and its share of L2 and device memory; and with none of these two busy.
  double cycles = 0, cycles_alone = 0;
  double busiest = 0;  // its instructions against the mean of all; 0: not known

  double splits = 0;  // how often the lanes of a warp diverged

  double shared_wavefronts = 0, shared_ideal = 0;  // of loads, stores and atomics
  double shared_requests = 0;                      // instructions
  double shared_spins = 0;  // rounds of compare-and-swap loops: sums of floats and of 64 bits

  // That L1 is busy with loads, and with stores and atomics
  // (simulator/observers/caches/cache_record.h).
  double l1_load_cycles = 0, l1_store_cycles = 0;
  double global_requests = 0, global_loads = 0;  // instructions
  double l1_hits = 0, l2_hits = 0;               // shares of the sectors that warps load
  double l2_sectors = 0;                         // that L2 looks up, both sides of it
  double l2_read_lines = 0, l2_write_lines = 0, l2_fills = 0;
  double atomics = 0, busiest_slice = 0;   // in additions to integers
  double dram_pages = 0;                   // of device memory, that had to be opened for them
  double dram_read = 0, dram_written = 0;  // bytes
};

struct Resource {
  std::string name;    // "DRAM", "L2", "L1", "shared memory", "issue", "latency", ...
  double seconds = 0;  // what the launch would take if this were all that bounded it
  double share = 0;    // of the predicted time: the length of its bar, 0..1
  std::string words;   // "DRAM: 134.2 MB at 4.2 TB/s"
};

// Always *modelled*.
struct Prediction {
  // As events around the launch see it; of many in a row, from one to the next.
  double seconds = 0;
  double kernel_seconds = 0;        // the kernel alone: Nsight Compute's gpu__time_duration.sum
  double error = 0;                 // relative: mean absolute error for kernels of this length
  std::vector<Resource> resources;  // longest first
  std::string bottleneck;           // resources[0].words as a sentence: "bound by ..."
  std::string runner_up;
};

// What L2 and device memory take for what a launch moves.
double memory_seconds(const Profile& profile, const Work& work);
// What the busiest slice of L2 takes for its atomics.
double atomic_seconds(const Profile& profile, const Work& work);
// 1: device memory is written as much as read; 0: one of them alone.
double both_ways(const Work& work);

Prediction predict(const Profile& profile, const Work& work);

// A copy that moves so many bytes, half of them in and half out, 16 a thread, with an empty L2.
Work copy_work(const Profile& profile, uint64_t bytes);

}  // namespace lab32::model
