// What a call by name means.
#pragma once

#include <string>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// `callee`: the module's function of that name; nullptr: it has none. `heap`: as decode()'s. Throws
// lab32::Error for what the simulator does not have.
CallSite::Target target_of(const std::string& name, const ptx::Function* callee, bool heap);

}  // namespace lab32::sim
