// Kernels and multiprocessors on which the grader tries the student's occupancy calculator, and the
// misconceptions that it recognises in wrong answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"
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

}  // namespace lab32::checks::occupancy
