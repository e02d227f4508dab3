// The versions of the reduction lab as they are timed: alone, or beside the one before.
#pragma once

#include "grading/timing/timed_work.h"
#include "grading/words/names.h"

namespace lab32::checks::reduction {

// Version 1 to 8 over n ints, n a multiple of 256. v1 to v6 leave a sum for each block of 128, as
// on the G80; v7 and v8 leave one number in the shape that the submission states, and the zero
// that v7 starts from is part of what is timed.
TimedWork ladder_work(int version, uint32_t n, size_t sets);

// With version - 1 as the version before.
TimedWork ladder_step(int version, uint32_t n, size_t sets);

}  // namespace lab32::checks::reduction
