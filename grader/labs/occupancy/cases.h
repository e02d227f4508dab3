// Kernels and multiprocessors on which the grader tries the student's occupancy calculator, and the
// misconceptions that it recognises in wrong answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/launch/launch.h"
#include "grading/words/words.h"
#include "simulator/timing/profile.h"

namespace lab32::checks::occupancy {

// The limits of a multiprocessor and the resources of a block, laid out as in
// labs/occupancy/occupancy.cu.
struct MultiprocessorLimits {
  int32_t threads, blocks, registers, register_unit, shared, shared_unit, shared_reserved;
};
struct Usage {
  int32_t threads, registers, shared;
};

// The lab's bits for the resources that limit the number of blocks.
enum Limit : int32_t { kThreads = 1, kBlocks = 2, kRegisters = 4, kShared = 8 };

struct OccupancyCase {
  model::Profile gpu;
  Usage usage{};
  int32_t blocks = 0, limits = 0;  // by the toolkit's cuda_occupancy.h, if the GPU exists
  bool drawn = false;              // the GPU does not exist

  MultiprocessorLimits limits_of_gpu() const;
  std::string show() const;
  // How hard the case is to check by hand: it is easier if the kernel uses fewer resources.
  int effort() const;
};

// Cases for three generations of GPUs: the edge cases, then `random_cases` others for each; then as
// many on GPUs whose limits are drawn. At least one block fits in each case.
std::vector<OccupancyCase> occupancy_cases(Random& random, uint32_t random_cases);

// "registers and blocks"
std::string names_of(int32_t limits);

// A sentence about the misconception that gives exactly these answers for all cases; empty if none
// is known.
std::string misconception(const std::vector<OccupancyCase>& cases, const std::vector<int>& blocks);

// A grid, and the number of blocks that the whole GPU holds at once.
struct WaveCase {
  int32_t grid = 1, resident = 1;

  int32_t waves() const { return (grid + resident - 1) / resident; }
  float last() const {
    return static_cast<float>(grid - (waves() - 1) * resident) / static_cast<float>(resident);
  }
};
std::vector<WaveCase> wave_cases(Random& random, uint32_t random_cases);

// ---- inputs of part B ----

// The inputs of the kernels of part B and their expected results. The inputs of given kernels do
// not depend on the seed, so that a sweep over shapes is computed once.

// What the tasks leave free: the tile of `smooth` is all of its shared memory, and covers n once.
inline FreeFields free_fields(const std::string& kernel) { return {kernel != "smooth", false}; }

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
void record_usage(Check& check, const device::Kernel& kernel, const device::Shape& shape);

}  // namespace lab32::checks::occupancy
