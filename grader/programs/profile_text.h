// What `lab32 profile` prints of the launches of a program: 100 columns at most.
#pragma once

#include <string>
#include <vector>

#include "programs/metrics.h"
#include "report/launch_record.h"

namespace lab32::programs {

// The table of each launch; launches in a row of which all figures are alike share one.
std::string profile_text(const std::vector<report::LaunchRecord>& launches);

// Instead of the tables: of each launch the given metrics, name, unit and value.
std::string metrics_text(const std::vector<report::LaunchRecord>& launches,
                         const std::vector<const Metric*>& metrics);

}  // namespace lab32::programs
