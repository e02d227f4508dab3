// The shape of a launch.
#pragma once

#include <cstdint>

#include "base/grid.h"

namespace lab32::device {

struct Shape {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  // bytes
  // Blocks of a cluster; all 0: the launch does not say, and the kernel may.
  Dim3 cluster{0, 0, 0};
};

}  // namespace lab32::device
