// The source of a program with the counters beside each line: `lab32 profile --source`.
#pragma once

#include <string>
#include <vector>

#include "runtime/record/launch_profile.h"

namespace lab32::profiler {

// Sums over all launches. Every file that has counts, that of the most instructions first; of it
// the lines with counts and two around them. Worst lines are marked. 120 columns at most. A file
// that cannot be read any more is shown without its text.
std::string source_view(const std::vector<record::LaunchProfile>& launches);

}  // namespace lab32::profiler
