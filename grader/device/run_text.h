// Words for what ended a kernel, and for accesses that are counted at PTX level. The only place
// where faults of devices become English.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "simulator/core/warp/trap.h"  // to_string of the kind

namespace lab32::device {

// One sentence: which thread of which block did what, where, and by how much. The kind and the
// source line are not in it.
std::string describe(const Fault& fault);

// "line 31: shared load of 4 bytes: ptxas moved it out of a loop", each text once.
std::vector<std::string> describe(const std::vector<PtxLevelAccess>& accesses);

}  // namespace lab32::device
