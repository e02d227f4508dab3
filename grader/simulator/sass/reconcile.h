// Matches the memory instructions of PTX with those of the SASS that ptxas made of it, so that
// counters can be those of the machine code although the simulator executes PTX.
#pragma once

#include <map>
#include <string>

#include "simulator/core/warp/access_plan.h"
#include "simulator/ptx/module.h"
#include "simulator/sass/emitted.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

struct Reconciliation {
  // PTX function name -> the plans for sim::decode.
  std::map<std::string, sim::FunctionPlans> plans;
  // Function name -> its machine code, for functions in the listing.
  EmittedFunctions emitted;

  // Registers that ptxas spilled to local memory: traffic without a PTX instruction.
  struct Spills {
    int loads = 0, stores = 0;  // instructions
  };
  std::map<std::string, Spills> spills;  // by kernel; kernels without spills are absent
};

// The module must be parsed from the exact PTX that ptxas read for the listed cubin. Never throws:
// accesses that cannot be explained are marked as unmatched, with the reason.
Reconciliation reconcile(const ptx::Module& module, const Listing& listing);

}  // namespace lab32::sass
