// The accesses of device memory of a kernel whose addresses are all affine in the coordinates of
// their thread, and what the branches around them say of those.
#pragma once

#include <optional>
#include <vector>

#include "simulator/core/warp/affine.h"
#include "simulator/core/warp/launch_context.h"

namespace lab32::sim {

struct AffineAccess {
  Affine address;
  unsigned bytes;
  bool store;
  std::vector<Bound> bounds;  // hold for every thread that makes it
};

// Nothing: some access is not known, or is an update, or a load in a loop, which may wait for what
// another block will store; or the kernel calls functions.
std::optional<std::vector<AffineAccess>> affine_accesses(const LaunchContext& launch,
                                                         const Extents& extents);

}  // namespace lab32::sim
