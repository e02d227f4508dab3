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

struct PtxSassReconciliation {
  // For each PTX function, by name: the plans for sim::decode.
  std::map<std::string, sim::FunctionPlans> plans;
  // For each function in the listing, by name: its machine code.
  SassBlocksByFunction emitted;

  // For each kernel: the PTX line of each load and store of local memory in the machine code of the
  // kernel and of the functions that it calls. If the line's PTX instruction is no local access,
  // the machine instruction spills a register.
  std::map<std::string, std::vector<int>> local_lines;
};

// The module must be parsed from the exact PTX that ptxas read for the listed cubin. Never throws:
// accesses that cannot be explained are marked as unmatched, with the reason.
PtxSassReconciliation reconcile(const ptx::Module& module, const Disassembly& listing);

}  // namespace lab32::sass
