// How often each instruction of a launch was issued, and each block of the machine code, function
// by function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/sass/emitted.h"

namespace lab32::device {

// One function of a program, and how often each of its instructions was issued.
struct FunctionTimes {
  const sim::CodeFunction* function = nullptr;
  size_t first_site = 0;
  std::vector<uint64_t> times;
  std::vector<uint64_t> rounds;  // of the loop of compare-and-swap that ptxas made of it
};
std::vector<FunctionTimes> by_function(const sim::KernelProgram& program,
                                       const std::vector<sim::IssueTally>& tally,
                                       const counters::TrafficObserver& traffic);

// How often the block runs, over all warps.
double runs(const sass::EmittedBlock& block, const FunctionTimes& function);

}  // namespace lab32::device
