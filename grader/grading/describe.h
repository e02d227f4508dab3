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

}  // namespace lab32::grading
