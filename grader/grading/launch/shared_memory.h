// Checks that labs about shared memory make: wavefronts against their ideal, and bytes per block.
#pragma once

#include <functional>
#include <string>

#include "device/device.h"
#include "grading/words/describe.h"

namespace lab32::grading {

// The line of the student's file whose shared accesses take most wavefronts beyond their ideal, and
// what its worst warp did. line 0: no access has a bank conflict.
Waste worst_shared(const device::Run& run);

// Points for the wavefronts that all shared loads, stores and atomics of a run take, in proportion
// to `ideal`, what the task needs. Conflicts are explained by the worst access and `idea`.
// `line_to_show`: which line is quoted for an access that is on a line; empty: that one.
using LineToShow = std::function<int(int line)>;
void credit_wavefronts(const device::Run& run, double ideal, const std::string& idea,
                       const LineToShow& line_to_show = {});

// Those of a second launch (standard_checks.h).
void hold_wavefronts(const std::string& where, double limit, const device::Run& run);

// Loses the check when the kernel declares more static shared memory than `bytes` per block.
void limit_shared(const std::string& kernel, double bytes);

}  // namespace lab32::grading
