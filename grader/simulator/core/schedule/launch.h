// Runs a grid: blocks spread over the host's cores, with results that do not depend on how.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

struct LaunchOutcome {
  std::optional<Trap> trap;        // that of the lowest block
  std::optional<Trap> bad_access;  // the first that did not end a launch that keeps going
  std::optional<OutOfRangeAmount> out_of_range_amount;  // of the lowest block
  std::vector<IssueTally> tally;                        // by site
  std::string output;                                   // printf, in block order
  bool output_lost = false;  // there was more than kOutputLimit (block_group.h)
  bool grid_races_unchecked =
      false;  // the order of blocks was asked for and not looked at: the heap
  // Of each warp, where the launch asks for it: warps of a block side by side, blocks in order.
  // Empty where not all blocks are known.
  std::vector<uint32_t> warps;
  uint64_t longest_warp = 0, busiest_warp = 0;  // busiest: without what it waited
  uint64_t longest_wait = 0;                    // of a warp for a clock, beyond its instructions
};

// Runs all blocks. `observers` receive what they asked for, merged in block order. `threads`: host
// threads to use (0: all cores). The parameters must lie at launch.param_address already.
LaunchOutcome run_grid(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       unsigned threads = 0);

}  // namespace lab32::sim
