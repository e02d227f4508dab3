// The report that `lab32 profile` prints about a program's launches, at most 100 columns wide.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler/metrics.h"
#include "runtime/record/recording.h"

namespace lab32::profiler {

constexpr unsigned kMostTables = 3;

// A table for each launch. Launches that differ only in their stream share one. If the figures of a
// kernel and shape change from launch to launch, only the first kMostTables are shown.
std::string profile_text(const std::vector<record::LaunchProfile>& launches);

// The given metrics of each launch instead of tables: name, unit and value.
std::string metrics_text(const std::vector<record::LaunchProfile>& launches,
                         const std::vector<const Metric*>& metrics);

// Calls of library functions that are not simulated; equal calls share a line. "" if there are
// none.
std::string library_calls_text(const std::vector<record::RecordedLibraryCall>& calls);

// The program's source with counters beside each line, summed over all launches (`lab32 profile
// --source`). Files with counts appear in the order of their instructions; of each file, the lines
// with counts and two lines around them. The worst lines are marked. At most 120 columns. If a file
// can no longer be read, its lines appear without text.
std::string source_view(const std::vector<record::LaunchProfile>& launches);

}  // namespace lab32::profiler
