// LAB32_TILE: the tile that a submission's transpose_best moves, and the threads that move it.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "grading/words/names.h"

namespace lab32::checks::transpose {

struct Tile {
  uint32_t rows = 0, columns = 0, threads = 0;

  // Of the launch that turns n rows of m columns.
  device::Shape shape(uint32_t n, uint32_t m) const;
};

// The record of transpose_best in `module`. Loses the check, and says what to write, when there is
// none or when no launch could be made of it.
Tile tile_of_best(device::LoadedModule& module);

}  // namespace lab32::checks::transpose
