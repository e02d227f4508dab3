// The shape of a launch.
#pragma once

#include <cstdint>

namespace lab32::device {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

struct Shape {
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;  // bytes
};

}  // namespace lab32::device
