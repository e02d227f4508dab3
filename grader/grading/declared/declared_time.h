// A declared timing check: the declared launch, timed as timing/timing_checks.h says.
#pragma once

namespace lab32::grading {

struct Check;
struct Declaration;

void run_declared_time(Check& check, const Declaration& declaration);

}  // namespace lab32::grading
