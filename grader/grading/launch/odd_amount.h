// Shifts and shuffles by amounts that mean nothing. Told only where a result is wrong: hardware has
// a result, which may well be the right one.
#pragma once

#include <string>

#include "device/device.h"

namespace lab32::grading {

// Of a launch; empty: in no line of the submission.
std::string describe(const device::OddAmount& odd);

// The same of what the compiler has already folded away, by its warnings; `display`: what they call
// the submission. Empty: it warns of no shift.
std::string odd_shift_of(const std::string& warnings, const std::string& display);

}  // namespace lab32::grading
