// What asynchronous copies share with the barriers that wait for them.
#pragma once

#include "simulator/core/warp/instruction.h"

namespace lab32::sim {

// All copies that the lanes in x.mask have issued arrive in shared memory.
void finish_all_copies(const Exec& x, const Inst& in);

}  // namespace lab32::sim
