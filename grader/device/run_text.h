// Turns faults of devices and PTX-level accesses into English. All messages about faults come from
// here.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"
#include "simulator/core/warp/trap.h"  // to_string of the kind

namespace lab32::device {

// One sentence: which thread of which block did what, where, and by how much. The caller adds the
// kind of fault and the source line.
std::string describe(const KernelFault& fault);

// "line 31: shared load of 4 bytes: ptxas moved it out of a loop"; equal texts appear once.
std::vector<std::string> describe(const std::vector<AccessCountedAsPtx>& accesses);

}  // namespace lab32::device
