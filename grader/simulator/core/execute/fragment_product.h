// What instructions on fragments need of the warp that executes them.
#pragma once

#include "simulator/core/execute/fragments.h"
#include "simulator/core/execute/warp.h"

namespace lab32::sim {

const FragmentOp& fragment_op(const Exec& x, const Inst& in);
// All 32 lanes must take part: stops the warp where they do not.
void require_whole_warp(const Exec& x, const Inst& in);

}  // namespace lab32::sim
