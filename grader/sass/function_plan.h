// Reconciles one PTX function.
#pragma once

#include "ptx/module.h"
#include "sass/ptx_accesses.h"
#include "sass/sites.h"
#include "sim/access_plan.h"

namespace lab32::sass {

sim::FunctionPlans plan_function(const ptx::Module& module, const PtxFunction& function,
                                 const Sites& sites);

}  // namespace lab32::sass
