// Finds polls: strong loads, and atomics with a result, that a loop repeats at one address until
// they return the awaited value. `while (!ready[b]) {}` has one. What a poll returns first depends
// on time, but what it has returned when the loop ends does not.
#pragma once

#include <vector>

#include "simulator/ptx/control_flow.h"

namespace lab32::ptx {

// By instruction. A copy of a poll before its loop, which nvcc makes when it rotates the loop, is a
// poll, too.
std::vector<bool> find_polls(const Module& module, const Function& function,
                             const BasicBlocks& blocks);

}  // namespace lab32::ptx
