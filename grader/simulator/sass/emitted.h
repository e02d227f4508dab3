// What ptxas emitted for a function, block by block, and how often it is issued: counted nowhere,
// but told by the PTX instructions it comes from. ptxas unrolls loops, and turns short branches
// into guards: a guarded instruction is issued by warps that have no lane for it, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulator/ptx/module.h"
#include "simulator/sass/emitted_block.h"
#include "simulator/sass/sites.h"

namespace lab32::sass {

using EmittedFunctions = std::map<std::string, std::vector<EmittedBlock>>;

// The blocks of the function of that name; none where the listing does not have it. Slow paths of
// diverged warps are left out.
std::vector<EmittedBlock> emitted_blocks(const ptx::Function& function, const Sites& sites);

// How often the block runs, over all warps. times[i]: how often body[i] was issued; of a loop of
// compare-and-swap, how often it is entered.
double runs(const EmittedBlock& block, const std::vector<uint64_t>& times);

}  // namespace lab32::sass
