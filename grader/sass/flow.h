// Basic blocks of a SASS function, and which of them are detours for diverged warps.
#pragma once

#include <vector>

#include "sass/graph.h"
#include "sass/listing.h"

namespace lab32::sass {

struct Flow {
  struct Block {
    int first = 0, last = 0;  // instructions [first, last)
  };
  std::vector<Block> blocks;
  std::vector<int> block_of;  // by instruction
  Structure structure;
  // Run only by warps whose lanes have not met again (BRA.DIV, BRA.CONV): a second copy of code
  // with warp-wide instructions, or a call that waits for the others.
  std::vector<bool> detour;
  bool known = true;  // false: a jump whose targets the listing does not name
};

Flow analyse_flow(const Function& function);

}  // namespace lab32::sass
