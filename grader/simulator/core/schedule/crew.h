// Host threads that wait for the next launch: to start them for each round of each launch costs as
// much as a small launch does.
#pragma once

#include <functional>

namespace lab32::sim {

// job(0) to job(n - 1), side by side, one of them here; returns when all have. They must not throw.
void run_side_by_side(unsigned n, const std::function<void(unsigned)>& job);

}  // namespace lab32::sim
