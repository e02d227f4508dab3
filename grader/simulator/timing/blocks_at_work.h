// What one multiprocessor is given to run, and how long it took.
#pragma once

#include <cstdint>
#include <vector>

namespace lab32::model {

// What a launch's blocks are, as far as they differ.
struct BlocksAtWork {
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
  // that change the word that one wants to change (simulator/observers/traffic/spins.h).
  double shared_words = 0;
  double last_lanes = 1;  // of such a loop: lanes in its last round
  double both_ways = 0;   // 1: device memory is written as much as read; 0: one of them alone
};

struct AtWork {
  double cycles = 0;  // until the last warp has ended
  double blocks = 0;  // that the multiprocessor ran which was the last to finish
  double issued = 0;  // instructions of theirs
};

}  // namespace lab32::model
