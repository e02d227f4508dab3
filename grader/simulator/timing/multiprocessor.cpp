#include "simulator/timing/multiprocessor.h"

#include <algorithm>
#include <cmath>

#include "simulator/timing/block_dealing.h"
#include "simulator/timing/warps_at_work.h"
#include "simulator/timing/ways.h"

namespace lab32::model {

AtWork run_multiprocessor(const Profile& profile, const WarpTrace& trace,
                          const BlocksAtWork& work) {
  std::vector<uint64_t> of_block;
  const uint64_t known = work.warps > 0 ? work.issued.size() / work.warps : 0;
  if (known == work.blocks) {
    for (uint64_t b = 0; b < known; ++b) {
      of_block.push_back(0);
      for (uint32_t w = 0; w < work.warps; ++w) of_block.back() += work.issued[b * work.warps + w];
    }
  }
  const std::vector<uint64_t> blocks =
      blocks_of_the_last(profile.multiprocessors, work.resident, work.blocks, work.warps, of_block);
  const Ways ways(trace, work);
  const Time& time = profile.time;
  AtWork result;
  double crowd = 1;
  for (int turn = 0; turn < 3; ++turn) {
    WarpsAtWork warps(profile, trace, work, ways, crowd);
    result = warps.run(blocks);
    const double share = warps.memory_cycles() / std::max(result.cycles, 1.0);
    const double busy = std::min(share, 1.0);
    const double then = 1 + busy * busy * (time.memory_queue + time.memory_turn * work.both_ways);
    if (std::abs(then - crowd) < 0.02) break;
    crowd = turn == 0 ? then : (then + crowd) / 2;
  }
  return result;
}

}  // namespace lab32::model
