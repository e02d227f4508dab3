// Launches as `ncu --csv --print-units base` writes them, so that what reads the one reads the
// other.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler/metrics.h"
#include "runtime/record/launch_profile.h"

namespace lab32::profiler {

// A header line, then a line a launch and metric, sorted by metric within a launch: every field
// quoted, thousands grouped, "n/a" where a launch has no such figure.
std::string ncu_csv(const std::vector<record::LaunchProfile>& launches,
                    const std::vector<const Metric*>& metrics);

}  // namespace lab32::profiler
