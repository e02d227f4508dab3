// The counters of counters.def by name, for expressions: "load.sectors", "shared_load.wavefronts",
// "block_barriers", and the sums `requests`, `sectors`, `wavefronts` and `conflicts`.
#pragma once

#include <string>
#include <vector>

#include "simulator/observers/counters.h"

namespace lab32::grading {

std::vector<std::string> counter_names();
// In the order of counter_names().
std::vector<double> counter_values(const counters::Counters& counters);

// Whether a counter is one of shared memory; the others belong to global memory or to neither.
bool is_shared_counter(const std::string& name);

}  // namespace lab32::grading
