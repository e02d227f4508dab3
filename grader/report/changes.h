// What has changed from one grading to the next, for who edits a file and watches.
#pragma once

#include <string>

#include "report/result.h"

namespace lab32::report {

// A line per check that has changed, with both measurements, and the points; "" where
// nothing is. Labs that only one of them has are left out.
std::string changes(const Result& before, const Result& after);

}  // namespace lab32::report
