// Reconciles one PTX function.
#pragma once

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/ptx_accesses.h"
#include "simulator/sass/sites.h"

namespace lab32::sass {

sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites);

}  // namespace lab32::sass
