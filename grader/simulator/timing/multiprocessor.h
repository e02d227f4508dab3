// One multiprocessor at work: its warps issue the machine code in order, each instruction when what
// it reads has come and the unit that takes it is free. What lies beyond L1 is its share of L2 and
// of device memory.
#pragma once

#include "simulator/timing/blocks_at_work.h"
#include "simulator/timing/profile.h"
#include "simulator/timing/warp_trace.h"

namespace lab32::model {

AtWork run_multiprocessor(const Profile& profile, const WarpTrace& trace, const BlocksAtWork& work);

}  // namespace lab32::model
