// Words for accesses that are counted at PTX level.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::device {

// "line 31: shared load of 4 bytes: ptxas moved it out of a loop", each text once.
std::vector<std::string> describe(const std::vector<PtxLevelAccess>& accesses);

}  // namespace lab32::device
