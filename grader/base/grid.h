// How many blocks a grid has, or threads a block, in each direction.
#pragma once

#include <cstdint>

namespace lab32 {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

}  // namespace lab32
