// Basic blocks and the edges between them.
#include "simulator/ptx/basic_blocks.h"

#include <algorithm>

namespace lab32::ptx {
namespace {

// A trap ends the kernel: nothing follows it, whatever stands behind.
bool ends_block(const Instruction& in) {
  return is_branch(in) || in.op->traits.leaves_function() || in.op->traits.flow == Flow::trap;
}

bool never_continues(const Instruction& in) { return in.guard < 0 && ends_block(in); }

std::vector<int> targets_of(const Function& function, const Instruction& in) {
  switch (in.op->traits.flow) {
    case Flow::branch:
      return {static_cast<int>(in.operands[0].value)};
    case Flow::table_branch:
      return function.branch_tables[static_cast<size_t>(in.branch_table)];
    default:
      return {};
  }
}

void make_blocks(const Function& function, BasicBlocks& flow) {
  const auto size = static_cast<int>(function.body.size());
  std::vector<char> leads(static_cast<size_t>(size) + 1, 0);
  leads[0] = 1;
  for (int i = 0; i < size; ++i) {
    const Instruction& in = function.body[static_cast<size_t>(i)];
    if (ends_block(in)) leads[static_cast<size_t>(i) + 1] = 1;
    for (int target : targets_of(function, in)) leads[static_cast<size_t>(target)] = 1;
  }
  flow.block_of.resize(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    if (leads[static_cast<size_t>(i)]) {
      flow.blocks.emplace_back();
      flow.blocks.back().first = i;
    }
    flow.blocks.back().last = i + 1;
    flow.block_of[static_cast<size_t>(i)] = static_cast<int>(flow.blocks.size()) - 1;
  }
}

void make_edges(const Function& function, BasicBlocks& flow) {
  const auto size = static_cast<int>(function.body.size());
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    BasicBlock& block = flow.blocks[b];
    const Instruction& end = function.body[static_cast<size_t>(block.last) - 1];
    std::vector<int> targets = targets_of(function, end);
    if (!never_continues(end)) targets.push_back(block.last);
    block.ends_lanes = end.op->traits.leaves_function();
    for (int target : targets) {
      if (target == size) {  // running off the end returns
        block.ends_lanes = true;
        continue;
      }
      const int to = flow.block_of[static_cast<size_t>(target)];
      if (std::find(block.successors.begin(), block.successors.end(), to) !=
          block.successors.end()) {
        continue;
      }
      block.successors.push_back(to);
      flow.blocks[static_cast<size_t>(to)].predecessors.push_back(static_cast<int>(b));
    }
  }
}

}  // namespace

bool is_branch(const Instruction& in) {
  return in.op->traits.flow == Flow::branch || in.op->traits.flow == Flow::table_branch;
}

BasicBlocks find_basic_blocks(const Function& function) {
  BasicBlocks flow;
  if (function.body.empty()) return flow;
  make_blocks(function, flow);
  make_edges(function, flow);
  return flow;
}

}  // namespace lab32::ptx
