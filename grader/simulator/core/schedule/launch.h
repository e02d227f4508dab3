// Runs a grid. run_grid() distributes the blocks over the host's cores; the results do not depend
// on the number of host threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

struct LaunchOutcome {
  std::optional<Trap> trap;           // the trap of the lowest block that trapped
  std::optional<Trap> bad_access;     // the first fault in a launch that keeps going
  std::optional<Trap> uninitialised;  // LaunchContext::note_uninitialised
  std::optional<OutOfRangeShiftOrShuffle>
      out_of_range_shift_or_shuffle;                // that of the block with the lowest index
  std::vector<StaticInstructionIssueCounts> tally;  // by site
  std::string output;                               // printf, in block order
  bool output_lost = false;  // the output exceeded kOutputLimit (block_group.h)
  bool grid_races_unchecked =
      false;  // an observer wants race detection, but the kernel uses the heap
  // Instructions of each warp, if the launch asks for it: block after block. Empty if some blocks
  // are missing.
  std::vector<uint32_t> warps;
  // The most instructions that one warp issued. `busiest_warp` does not count the time slices in
  // which the warp waited.
  uint64_t longest_warp = 0, busiest_warp = 0;
  // The longest time that a warp waited for a clock, in addition to its instructions.
  uint64_t longest_wait = 0;
};

// Runs all blocks. `observers` receive the events that they want, merged in block order. `threads`:
// host threads to use (0: all cores). The kernel's parameters must already be at
// launch.param_address.
LaunchOutcome run_grid(const LaunchContext& launch, const std::vector<Observer*>& observers,
                       unsigned threads = 0);

}  // namespace lab32::sim
