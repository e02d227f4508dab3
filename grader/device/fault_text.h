// Words for what ended a kernel. The only place where faults of devices become English.
#pragma once

#include <string>

#include "device/fault.h"
#include "simulator/core/warp/trap_text.h"  // to_string of the kind

namespace lab32::device {

// One sentence: which thread of which block did what, where, and by how much. The kind and the
// source line are not in it.
std::string describe(const Fault& fault);

}  // namespace lab32::device
