// What a launch did, in words: its costliest access, lane by lane, and shifts and shuffles by
// amounts that mean nothing.
#pragma once

#include <string>

#include "base/text.h"
#include "device/device.h"

namespace lab32::grading {

struct Check;

// The line of the student's file whose global accesses cost most beyond their ideal, and what its
// worst warp did. line 0: every access was ideal.
struct Waste {
  int line = 0;
  std::string message;
};
Waste worst_global(Check& check, const device::Run& run);

// "loads", "stores", "atomics"
const char* plural_of(const device::WorstAccess& access);

// From here on the check does not say what its worst accesses take, as long as `question`,
// which asks for that, has not been passed: only on which line they are.
void withhold_until_passed(Check& check, const std::string& question);
// The message of a Waste: `message`, or in its place who asks for it.
std::string unless_withheld(Check& check, std::string message);

// Of a launch; empty: in no line of the submission.
std::string undefined_amount_text(Check& check, const device::OutOfRangeAmount& odd);

// The same of what the compiler has already folded away, by its warnings; `display`: what they call
// the submission. Empty: it warns of no shift.
std::string shift_warning_of(const std::string& warnings, const std::string& display);

}  // namespace lab32::grading
