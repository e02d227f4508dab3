// Where diverged lanes meet again.
#pragma once

#include "simulator/ptx/control_flow.h"

namespace lab32::ptx {

// Fills in `reconverge`, `loops` and `loop_of` of what has blocks and edges.
void find_meeting_places(const Function& function, ControlFlow& flow);

}  // namespace lab32::ptx
