// Boxes of bytes that copies and fills work on.
#pragma once

#include <cstdint>

namespace lab32::cudart {

// A box of bytes in memory: rows of `pitch` bytes, slices of `slice` bytes.
struct Box {
  uint64_t begin = 0;
  uint64_t pitch = 0, slice = 0;
};
struct Extent {
  uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};

}  // namespace lab32::cudart
