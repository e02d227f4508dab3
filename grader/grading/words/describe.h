// Saying what the memory unit saw: the costliest access, lane by lane.
#pragma once

#include <string>

#include "base/text.h"
#include "device/device.h"

namespace lab32::grading {

// The line of the student's file whose global accesses cost most beyond their ideal, and what its
// worst warp did. line 0: every access was ideal.
struct Waste {
  int line = 0;
  std::string message;
};
Waste worst_global(const device::Run& run);

// "loads", "stores", "atomics"
const char* plural_of(const device::WorstAccess& access);

// From here on the running check does not say what its worst accesses take, as long as `check`,
// which asks for that, has not been passed: only on which line they are.
void withhold_until_passed(const std::string& check);
// The message of a Waste: `message`, or in its place who asks for it.
std::string unless_withheld(std::string message);

}  // namespace lab32::grading
