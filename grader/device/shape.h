// The shape of a launch.
#pragma once

#include <cstdint>

#include "base/dim3.h"

namespace lab32::device {

struct Shape {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  // bytes
};

}  // namespace lab32::device
