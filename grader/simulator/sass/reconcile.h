// PTX and the SASS that ptxas made of it -> how each PTX memory instruction is issued.
#pragma once

#include <map>
#include <string>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/emitted.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

struct Reconciliation {
  // By the PTX function's name: what sim::decode takes.
  std::map<std::string, sim::FunctionPlans> plans;
  // By the name, of those that are functions of the listing.
  EmittedFunctions emitted;

  // Registers that ptxas kept in local memory for want of better: traffic that no PTX stands for.
  struct Spills {
    int loads = 0, stores = 0;  // instructions
  };
  std::map<std::string, Spills> spills;  // by kernel; kernels without any are not listed
};

// The module must be parsed from the very PTX that ptxas read when it made the listed cubin.
// Nothing throws: what cannot be explained is marked as unmatched, with the reason.
Reconciliation reconcile(const ptx::Module& module, const Listing& listing);

}  // namespace lab32::sass
