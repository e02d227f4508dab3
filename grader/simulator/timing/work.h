// What a launch asks of each part of the machine: all that the time model knows of it. Counted by
// the simulator; nothing here depends on a clock or a bandwidth.
#pragma once

#include <cstdint>

#include "simulator/timing/occupancy.h"

namespace lab32::model {

// Warp instructions by the pipeline that takes them, as ptxas is expected to emit them.
struct IssueSlots {
  double all = 0;       // issue slots
  double fp32 = 0;      // additions, products, multiply-adds of floats
  double alu = 0;       // integer, logic, comparison, moves
  double multiply = 0;  // integers that the multiply-add pipeline takes: products, VIADD
  double half = 0;      // packed halves
  double fp64 = 0;
  double special = 0;  // reciprocals, roots, sines, conversions
  double memory = 0;   // accesses to global and shared memory, shuffles, barriers

  void add(const IssueSlots& other, double times);
};

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

}  // namespace lab32::model
