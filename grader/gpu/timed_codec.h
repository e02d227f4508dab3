// Timed as bytes, to be handed from the process that holds the GPU to the one that grades.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/work.h"
#include "gpu/timer.h"

namespace lab32::device {

// Outputs lie in `region`; what is said of them is where.
std::vector<std::byte> encode(const Timed& timed, const SharedRegion& region);
// Throws Error when they are not what encode() makes. Outputs keep the region.
Timed decode(const std::vector<std::byte>& bytes,
             const std::shared_ptr<const SharedRegion>& region);

}  // namespace lab32::device
