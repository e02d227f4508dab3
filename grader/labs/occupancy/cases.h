// Kernels and multiprocessors to try a student's occupancy calculator on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "grading/words/names.h"
#include "simulator/timing/profile.h"

namespace lab32::checks::occupancy {

// What a multiprocessor has, and what a block asks for: as labs/occupancy/occupancy.cu has them.
struct MultiprocessorLimits {
  int32_t threads, blocks, registers, register_unit, shared, shared_unit, shared_reserved;
};
struct Usage {
  int32_t threads, registers, shared;
};

// Sums of these, as the lab has them.
enum Limit : int32_t { kThreads = 1, kBlocks = 2, kRegisters = 4, kShared = 8 };

struct OccupancyCase {
  model::Profile gpu;
  Usage usage{};
  int32_t blocks = 0, limits = 0;  // by the toolkit's cuda_occupancy.h

  MultiprocessorLimits limits_of_gpu() const;
  std::string show() const;
  // Of thinking it through: the fewer resources are asked for, the less.
  int effort() const;
};

// Three generations; the edges first, then `random` others for each. At least one block fits in
// each case.
std::vector<OccupancyCase> occupancy_cases(Random& random, uint32_t random_cases);

// "registers and blocks"
std::string names_of(int32_t limits);

// Which wrong idea gives just these answers for all cases, in a sentence; empty: none we know.
std::string misconception(const std::vector<OccupancyCase>& cases, const std::vector<int>& blocks);

// A grid, and the blocks that the whole GPU holds at a time.
struct WaveCase {
  int32_t grid = 1, resident = 1;

  int32_t waves() const { return (grid + resident - 1) / resident; }
  float last() const {
    return static_cast<float>(grid - (waves() - 1) * resident) / static_cast<float>(resident);
  }
};
std::vector<WaveCase> wave_cases(Random& random, uint32_t random_cases);

}  // namespace lab32::checks::occupancy
