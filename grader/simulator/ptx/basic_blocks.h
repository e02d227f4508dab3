// A function's basic blocks and the edges between them.
#pragma once

#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

struct BasicBlock {
  int first = 0, last = 0;  // instructions [first, last)
  std::vector<int> successors, predecessors;
  bool ends_lanes = false;  // some lanes may leave the function here (ret, exit, the body's end)
};

struct BasicBlocks {
  std::vector<BasicBlock> blocks;  // in textual order; none for an empty body
  std::vector<int> block_of;       // of each instruction
};
BasicBlocks find_basic_blocks(const Function& function);

bool is_branch(const Instruction& in);

}  // namespace lab32::ptx
