// One multiprocessor at work: its warps issue the machine code in order, each instruction when what
// it reads has come and the unit that takes it is free. What lies beyond L1 is its share of L2 and
// of device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/timing/profile.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::model {

SmTiming run_multiprocessor(const Profile& profile, const WarpTrace& trace, const SmWork& work);

// Which blocks the multiprocessor gets that is the last to finish. A block goes to the
// multiprocessor where one has ended. `work[i]`: instructions of block i; empty: all the same,
// `blocks` of them. `warps`: of a block.
std::vector<uint64_t> blocks_of_last_multiprocessor(uint32_t multiprocessors, uint32_t resident,
                                                    uint64_t blocks, uint32_t warps,
                                                    const std::vector<uint64_t>& work);

}  // namespace lab32::model
