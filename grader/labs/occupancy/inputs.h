// What the kernels of part B read: the same in each grading, so that a sweep over shapes is made
// once; and their results.
#pragma once

#include <cstdint>
#include <vector>

namespace lab32::checks::occupancy {

// Eight nodes, a sector of links, stay together, wherever they lead.
std::vector<int32_t> links(uint32_t nodes);

constexpr uint32_t kSide = 64;    // of the field, in cells
constexpr uint32_t kTraced = 14;  // numbers for each particle
struct Cell {
  float x, y, z, w;
};
std::vector<Cell> field(uint64_t seed);
// x of all particles, then y, then z. Neighbours start in one cell, and so stay together.
std::vector<float> starts(uint32_t n);
std::vector<float> traced(const std::vector<Cell>& field, const std::vector<float>& start,
                          uint32_t n, uint32_t steps);

}  // namespace lab32::checks::occupancy
