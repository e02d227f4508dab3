// Kernels and multiprocessors about which the grader asks the student's occupancy calculator, and
// the misconceptions that it recognises in wrong answers.
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
struct BlockUsage {
  int32_t threads, registers, shared;
};

// The bits in which the lab's limits() returns the resources that limit the number of blocks.
enum Limit : int32_t { kThreads = 1, kBlocks = 2, kRegisters = 4, kShared = 8 };

struct OccupancyCase {
  model::DeviceProfile gpu;
  BlockUsage usage{};
  int32_t blocks = 0, limits = 0;  // right answers: cuda_occupancy.h's, or the handout's rules
  bool drawn = false;              // the GPU does not exist

  MultiprocessorLimits limits_of_gpu() const;
  std::string show() const;
  // How hard the case is to check by hand: the fewer resources the kernel uses, the easier. A
  // failed check shows the easiest case.
  int hand_check_effort() const;
};

// Cases for three generations of GPUs: the edge cases, then `random_cases` others for each; then as
// many on GPUs whose limits are drawn. At least one block fits in each case.
std::vector<OccupancyCase> occupancy_cases(Random& random, uint32_t random_cases);

// "registers and blocks"
std::string limit_names(int32_t limits);

// A sentence about the misconception that would give all of these block counts for these cases;
// empty if no known misconception does.
std::string misconception_hint(const std::vector<OccupancyCase>& cases,
                               const std::vector<int>& blocks);

// A grid, and the number of blocks that the whole GPU holds at once.
struct WaveCase {
  int32_t grid = 1, resident = 1;

  int32_t waves() const { return (grid + resident - 1) / resident; }
  float last_wave_share() const {
    return static_cast<float>(grid - (waves() - 1) * resident) / static_cast<float>(resident);
  }
};
std::vector<WaveCase> wave_cases(Random& random, uint32_t random_cases);

// ---- inputs of part B ----

// The inputs of the kernels of part B and their expected results. The inputs of given kernels do
// not depend on the seed, so that a sweep over shapes is computed once.

// The fields of LAB32_LAUNCH that the submission chooses besides the block. No task leaves
// dynamic_shared to it, because only the tile of `smooth` is in dynamic shared memory; and the
// blocks of `smooth` cover n once, so it has no blocks_per_sm.
inline LaunchFieldsLeftToStudent launch_fields_left_to_student(const std::string& kernel) {
  return {kernel != "smooth", false};
}

// For each node, the node that comes next. The eight nodes of a sector lead to the eight of one
// other sector, drawn at random, so threads that start in one sector stay together.
std::vector<int32_t> random_next_nodes_by_sector(uint32_t nodes);

constexpr uint32_t kSide = 64;    // width of the field in cells
constexpr uint32_t kTraced = 14;  // numbers per particle
struct FieldCellStepAndValue {
  float x, y, z, w;
};
std::vector<FieldCellStepAndValue> random_vector_field(uint64_t seed);
// x of all particles, then y, then z. Neighbours start in one cell and therefore stay together; the
// first ones in cell `first_cell`, counted along x, y, z.
std::vector<float> clustered_particle_positions(uint32_t n, uint32_t first_cell);
std::vector<float> expected_path_statistics(const std::vector<FieldCellStepAndValue>& field,
                                            const std::vector<float>& start, uint32_t n,
                                            uint32_t steps);

// Record what a block uses and how many such blocks each resource allows, for the lab's own
// pictures (labs/occupancy/pictures.py). Return the number of blocks that fit; 0: the device has no
// profile.
int32_t record_block_usage(Check& check, const BlockUsage& usage);
int32_t record_block_usage(Check& check, const device::Kernel& kernel,
                           const device::LaunchShape& shape);

// The block of the handout's worked example, and a grid of such blocks.
constexpr BlockUsage kExample{256, 40, 40000};
constexpr int32_t kExampleGrid = 1500;

}  // namespace lab32::checks::occupancy
