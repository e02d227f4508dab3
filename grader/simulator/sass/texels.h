// Fetches through textures and accesses of surfaces: whether the machine code has those of the PTX.
#pragma once

#include "simulator/core/warp/access_plan.h"
#include "simulator/sass/ptx_accesses.h"
#include "simulator/sass/sites.h"

namespace lab32::sass {

// ptxas notes no line for them, so they are told apart by how many there are, and how deep in
// loops.
void plan_texels(const PtxFunction& function, const Sites& sites, sim::FunctionPlans& plans);

}  // namespace lab32::sass
