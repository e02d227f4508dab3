// What `lab32 profile` and `lab32 check` say of calls of libraries, which are not simulated.
#pragma once

#include <string>
#include <vector>

#include "runtime/profiler/check_text.h"
#include "runtime/record/launch_profile.h"

namespace lab32::profiler {

// The calls, alike ones together; "" where there are none.
std::string library_calls_text(const std::vector<record::LibraryCall>& calls);

// Their findings, one for each call and text, counted and shown before the report's last line.
void add_library_findings(const std::vector<record::LibraryCall>& calls, CheckReport* report);

}  // namespace lab32::profiler
