// Simulates the timing of one multiprocessor: its warps issue the machine code in order, each
// instruction when its operands are available and its unit is free. Behind L1 the multiprocessor
// has its share of L2 and of device memory. The result is the time of the multiprocessor that
// finishes last, and therefore of the launch.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/timing/profile.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

SmTiming run_multiprocessor(const Profile& profile, const WarpTrace& trace, const SmWork& work);

// The blocks that the multiprocessor runs which finishes last. When a block ends, the next one goes
// to the same multiprocessor. `work[i]` is the number of instructions of block i; empty: `blocks`
// equal blocks. `warps` is the number per block.
std::vector<uint64_t> blocks_of_last_multiprocessor(uint32_t multiprocessors, uint32_t resident,
                                                    uint64_t blocks, uint32_t warps,
                                                    const std::vector<uint64_t>& work);

}  // namespace lab32::model
