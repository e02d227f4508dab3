// Describes what a launch did: its most wasteful access, lane by lane, and shifts and shuffles by
// amounts that C++ does not define.
#pragma once

#include <string>

#include "base/text.h"
#include "device/device.h"

namespace lab32::grading {

struct Check;

// The line of the student's file whose global accesses move most sectors beyond the ideal, and its
// worst access. line 0: every access was ideal.
struct ExplainedLine {
  int line = 0;
  std::string message;
};
ExplainedLine line_of_most_excess_sectors(Check& check, const device::LaunchResult& run);

// The line of the student's file with most atomics to device memory; 0: there are none.
int line_of_most_global_atomics(Check& check, const device::LaunchResult& run);

// "loads", "stores", "atomics"
const char* access_plural(const device::WorstAccess& access);

// From here on the check withholds the details of its worst accesses, but not their lines, as long
// as the check `question_check` has not passed.
void withhold_details_until_passed(Check& check, const std::string& question_check);
// `message`, which describes an ExplainedLine, or, while the check withholds it, a text that names
// the check that must pass first.
std::string message_unless_withheld(Check& check, std::string message);

// A sentence about a shift or shuffle of a launch by an undefined amount; empty if it is not on a
// line of the submission.
std::string undefined_amount_text(Check& check, const device::OutOfRangeShiftOrShuffle& odd);

// As above for a shift that the compiler has already evaluated, from its warnings. `display`: the
// submission's name in them. Empty: no such warning.
std::string shift_warning_explanation(const std::string& warnings, const std::string& display);

}  // namespace lab32::grading
