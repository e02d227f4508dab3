// Launches as the runtime library records them, with figures of a size to be looked at.
#pragma once

#include "report/launch_record.h"

namespace lab32::tests {

// A strided copy: global memory, a model's figures, nothing else.
report::LaunchRecord strided_launch();
// A transposition through a tile of shared memory with bank conflicts: two files, one of them a
// header that is not there; one access at PTX level.
report::LaunchRecord shared_launch();
// Stopped by an access out of bounds, with findings.
report::LaunchRecord faulty_launch();

}  // namespace lab32::tests
