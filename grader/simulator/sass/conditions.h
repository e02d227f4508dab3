// Does each instruction run as often, and under the conditions, as the PTX has it?
#pragma once

#include "simulator/sass/draft.h"

namespace lab32::sass {

// Fails the accesses of the draft for which that is not certain, and notes the branches at which
// warps must not diverge where a loop was unrolled.
void check_conditions(Draft& draft);

}  // namespace lab32::sass
