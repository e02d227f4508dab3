// LAB32_TILE: the tile that one block of a submission's transpose_best moves, and the threads of a
// block.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "device/device.h"
#include "grading/engine/check.h"
#include "grading/launch/launch.h"
#include "grading/words/words.h"

namespace lab32::checks::transpose {

struct Tile {
  uint32_t rows = 0, columns = 0, threads = 0;

  // The shape of the launch that transposes n rows of m columns.
  device::Shape shape(uint32_t n, uint32_t m) const {
    return {{blocks_for(m, columns), blocks_for(n, rows)}, {threads}};
  }
};

// The LAB32_TILE record of transpose_best in `module`. If there is none, or if it is invalid, the
// check is lost with a message that says what to write.
inline Tile declared_tile(Check& check, device::LoadedModule& module) {
  const auto bytes = read_record(check, module, "lab32_tile_transpose_best");
  std::array<int32_t, 3> asked{};
  if (!bytes || bytes->size() != sizeof(asked))
    check.lose({Failure::Kind::missing, "", "LAB32_TILE(transpose_best)"}, 0,
               "The file does not say which tile transpose_best uses: add "
               "LAB32_TILE(transpose_best, .rows = 64, .columns = 64, .threads = 256).");
  std::memcpy(asked.data(), bytes->data(), sizeof(asked));
  const auto [rows, columns, threads] = asked;
  const int line = check.line_of("LAB32_TILE");
  const Failure invalid{Failure::Kind::invalid, "", "LAB32_TILE(transpose_best)"};
  if (rows < 1 || columns < 1 || rows > 4096 || columns > 4096)
    check.lose(
        invalid, line,
        fmt::format("LAB32_TILE: a tile of {} x {} elements; rows and columns must be 1 to 4096.",
                    rows, columns));
  if (threads < 1 || threads > 1024)
    check.lose(invalid, line,
               fmt::format("LAB32_TILE: .threads is {}; a block has 1 to 1024 threads.", threads));
  return {static_cast<uint32_t>(rows), static_cast<uint32_t>(columns),
          static_cast<uint32_t>(threads)};
}

}  // namespace lab32::checks::transpose
