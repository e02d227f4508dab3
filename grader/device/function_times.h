// How often each instruction of a launch was issued, function by function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/execute/events.h"
#include "simulator/core/execute/kernel_program.h"

namespace lab32::device {

// One function of a program, and how often each of its instructions was issued.
struct FunctionTimes {
  const sim::CodeFunction* function = nullptr;
  size_t first_site = 0;
  std::vector<uint64_t> times;
};
std::vector<FunctionTimes> by_function(const sim::KernelProgram& program,
                                       const std::vector<sim::IssueTally>& tally);

}  // namespace lab32::device
