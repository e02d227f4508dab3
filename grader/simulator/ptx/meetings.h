// Where diverged lanes meet again.
#pragma once

#include "simulator/ptx/control_flow.h"

namespace lab32::ptx {

// Fills in `meetings`, `meeting_of` and `last_meeting_of` of what has blocks and edges.
void find_meetings(ControlFlow& flow);

}  // namespace lab32::ptx
