// Recognises a warp that repeats a loop for ever: the loop only computes, and all of the warp's
// registers have the values of an earlier iteration. Such a warp is found within a second, long
// before it has used its budget of instructions.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/core/warp/warp.h"

namespace lab32::sim {

// Runs the warp for at most `steps` instructions, until its state repeats. Returns the site of the
// loop's first line. Nothing: the state does not repeat, or an instruction does more than compute.
std::optional<uint32_t> find_repetition(Warp& warp, uint64_t steps);

}  // namespace lab32::sim
