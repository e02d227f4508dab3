// Flow graphs: dominators and loops; a function's basic blocks; one loop seen alone.
#pragma once

#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// ---- dominators and natural loops: asked of the PTX and of the SASS, and the answers compared
// ----

using Edges = std::vector<std::vector<int>>;  // by node: the nodes that follow it
using NodeSet = std::vector<char>;            // by node: whether it is one of them

Edges reversed(const Edges& next);

// Those that `root` reaches, each after all that it leads to but by a back edge.
std::vector<int> post_order(const Edges& next, int root);

// Of each node; -1 for the root and for what it does not reach.
std::vector<int> immediate_dominators(const Edges& next, int root);
bool dominates(const std::vector<int>& dominator, int a, int b);

// What can go on to `header` by an edge back to it, without passing it. Two such loops are apart,
// or one holds the other.
struct Loop {
  int header = 0;
  int parent = -1;  // index of the loop around it, -1: none
  NodeSet holds;
};

struct Loops {
  std::vector<Loop> all;     // each behind the one around it; one per header
  std::vector<int> loop_of;  // innermost loop of each node, -1: none
};

// Of the nodes that node 0 reaches; `dominator` are those from there.
Loops find_loops(const Edges& next, const std::vector<int>& dominator);

// ---- a function's basic blocks and the edges between them ----

struct BasicBlock {
  int first = 0, last = 0;  // instructions [first, last)
  std::vector<int> successors, predecessors;
  bool may_exit = false;  // some lanes may leave the function here (ret, exit, the body's end)
};

struct BasicBlocks {
  std::vector<BasicBlock> blocks;  // in textual order; none for an empty body
  std::vector<int> block_of;       // of each instruction
};
BasicBlocks find_basic_blocks(const Function& function);

bool is_branch(const Instruction& in);

constexpr int kNoBlock = -1;
constexpr int kWholeFunction = -1;  // the view of the whole function, among those of its loops

// A function, or one of its loops alone, as if it were the function: the next round is the way out,
// and edges that leave the loop count for nothing.
class FlowView {
 public:
  FlowView(const std::vector<BasicBlock>& blocks, const Loops& loops, int loop);

  bool holds(int block) const { return number_[static_cast<size_t>(block)] >= 0; }
  // The immediate post-dominator; kNoBlock: there is none.
  int post_dominator(int block) const;
  // Whether a way leads on from the block: to a return, or to the next round.
  bool has_exit_path(int block) const;
  // The blocks that come to `to`, itself too, without passing it.
  NodeSet blocks_reaching(int to) const;
  // The blocks that `from` comes to without passing `without`; not itself, but by a loop inside.
  NodeSet blocks_reached_from(int from, int without) const;

 private:
  int local(int block) const { return number_[static_cast<size_t>(block)]; }
  NodeSet spread(const Edges& edges, int from, int without) const;

  std::vector<int> nodes_, number_;  // block by node; node by block, -1: not in here
  Edges next_, back_;                // by node; the last one is the way out
  std::vector<int> after_;
};

}  // namespace lab32::ptx
