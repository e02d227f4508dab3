// Whether the blocks of a launch keep to bytes of their own: a proof from the kernel's text, its
// parameters and the launch's dimensions, before anything runs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "simulator/core/warp/launch_context.h"

namespace lab32::sim {

// Ranges of device memory.
using ByteRanges = std::vector<std::pair<uint64_t, uint64_t>>;

struct Apart {
  // No block touches a byte of device memory that another one writes, and none waits for another.
  // False: that is not known. Known are kernels without calls and atomics whose every address is
  // affine in the coordinates of its thread (affine.h), and whose loads are in no loop.
  bool proven = false;
  ByteRanges written;  // nothing outside of them is
};
Apart keep_apart(const LaunchContext& launch);

}  // namespace lab32::sim
