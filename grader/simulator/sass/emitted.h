// What ptxas emitted for a function, block by block, and how often it is issued: counted nowhere,
// but told by the PTX instructions it comes from. ptxas unrolls loops, and turns short branches
// into guards: a guarded instruction is issued by warps that have no lane for it, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "simulator/ptx/module.h"
#include "simulator/sass/sites.h"

namespace lab32::sass {

struct EmittedBlock {
  // An instruction of the PTX that has copies here, and how often the block runs for each time that
  // one is issued: with four copies, every fourth time.
  struct Origin {
    int32_t index = 0;  // in Function::body
    double share = 1;
    // An access, a shuffle, a barrier, a floating-point operation: ptxas copies these as they are.
    // Counters and addresses of an unrolled loop are computed once for all copies.
    bool anchor = false;
  };
  std::vector<Origin> origins;
  bool in_loop = false;
  bool entry = false;
  std::vector<std::string> opcodes;  // with their modifiers
  // How often one run of the block waits for loads from global memory: the first instruction that
  // needs the result of one waits for all that are under way. ptxas unrolls loops, and issues the
  // loads of all copies first where its registers allow it.
  double load_rounds = 0;
  // Blocks, by their place in the list, whose loads this one is the first to need: waited for as
  // often as the one that runs less.
  std::vector<size_t> waits_for;
};

using EmittedFunctions = std::map<std::string, std::vector<EmittedBlock>>;

// The blocks of the function of that name; none where the listing does not have it. Slow paths of
// diverged warps are left out.
std::vector<EmittedBlock> emitted_blocks(const ptx::Function& function, const Sites& sites);

// How often the block runs, over all warps. times[i]: how often body[i] was issued.
double runs(const EmittedBlock& block, const std::vector<uint64_t>& times);

// How often warps wait for loads from global memory, in all.
double load_rounds(const std::vector<EmittedBlock>& blocks, const std::vector<uint64_t>& times);

}  // namespace lab32::sass
