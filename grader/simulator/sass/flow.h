// Basic blocks of a SASS function, and which of them are slow paths for diverged warps.
#pragma once

#include <vector>

#include "simulator/sass/graph.h"
#include "simulator/sass/listing.h"

namespace lab32::sass {

struct FlowGraph {
  struct Block {
    int first = 0, last = 0;  // instructions [first, last)
  };
  std::vector<Block> blocks;
  std::vector<int> block_of;  // by instruction
  Structure structure;
  // Run only by warps whose lanes have not met again (BRA.DIV, BRA.CONV): a second copy of code
  // with warp-wide instructions, or a call that waits for the others.
  std::vector<bool> slow_path;
  bool known = true;  // false: a jump whose targets the listing does not name
};

FlowGraph analyse_flow(const Function& function);

}  // namespace lab32::sass
