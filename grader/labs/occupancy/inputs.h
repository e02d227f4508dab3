// The inputs of the kernels of part B and their expected results. The inputs of given kernels do
// not depend on the seed, so that a sweep over shapes is computed once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/launch/launch.h"

namespace lab32::checks::occupancy {

// What the tasks leave free: the tile of `smooth` is all of its shared memory, and covers n once.
inline grading::FreeFields free_fields(const std::string& kernel) {
  return {kernel != "smooth", false};
}

// Each group of eight nodes, which is a sector of links, stays together wherever its links lead.
std::vector<int32_t> random_links(uint32_t nodes);

constexpr uint32_t kSide = 64;    // width of the field in cells
constexpr uint32_t kTraced = 14;  // numbers per particle
struct FieldVector {
  float x, y, z, w;
};
std::vector<FieldVector> vector_field(uint64_t seed);
// x of all particles, then y, then z. Neighbours start in one cell and therefore stay together; the
// first ones in cell `first`, counted along x, y, z.
std::vector<float> start_positions(uint32_t n, uint32_t first);
std::vector<float> traced_paths(const std::vector<FieldVector>& field,
                                const std::vector<float>& start, uint32_t n, uint32_t steps);

// Records what a block of the launch uses, for the pictures of the report
// (labs/occupancy/pictures.py).
void record_usage(grading::Check& check, const device::Kernel& kernel, const device::Shape& shape);

}  // namespace lab32::checks::occupancy
