// What `lab32 profile` prints of the launches of a program: 100 columns at most.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler/metrics.h"
#include "runtime/record/recording.h"

namespace lab32::profiler {

constexpr unsigned kMostTables = 3;

// The table of each launch. Launches of which all figures but the stream are alike share one; and
// of a kernel and shape whose figures change from launch to launch only the first kMostTables are
// shown.
std::string profile_text(const std::vector<record::LaunchProfile>& launches);

// Instead of the tables: of each launch the given metrics, name, unit and value.
std::string metrics_text(const std::vector<record::LaunchProfile>& launches,
                         const std::vector<const Metric*>& metrics);

// Calls of libraries that are not simulated, alike ones together; "" where there are none.
std::string library_calls_text(const std::vector<record::LibraryCall>& calls);

// The source of a program with the counters beside each line (`lab32 profile --source`): sums over
// all launches. Every file that has counts, that of the most instructions first; of it the lines
// with counts and two around them. Worst lines are marked. 120 columns at most. A file that cannot
// be read any more is shown without its text.
std::string source_view(const std::vector<record::LaunchProfile>& launches);

}  // namespace lab32::profiler
