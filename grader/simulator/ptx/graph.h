// Control-flow graphs: dominators and natural loops of a graph, the basic blocks of a PTX function,
// and a view of one loop as if it were a whole function. Nodes and blocks are numbered from 0, and
// the entry is 0.
#pragma once

#include <vector>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// ---- dominators and natural loops, computed for PTX and for SASS and compared ----

using Edges = std::vector<std::vector<int>>;  // by node: its successors
using NodeSet = std::vector<char>;            // for each node: whether the set contains it

Edges reversed_edges(const Edges& next);

// The nodes that `root` reaches, in post-order: each node after its successors, except along back
// edges.
std::vector<int> post_order(const Edges& next, int root);

// The immediate dominator of each node; -1 for the root and for unreachable nodes.
std::vector<int> immediate_dominators(const Edges& next, int root);
bool dominates(const std::vector<int>& dominator, int a, int b);

// A natural loop: the nodes that can reach a back edge to `header` without passing through
// `header`. Two loops are disjoint, or one contains the other.
struct Loop {
  int header = 0;
  int parent = -1;  // index of the enclosing loop; -1: none
  NodeSet holds;
};

struct Loops {
  std::vector<Loop> all;     // each loop comes after its enclosing loop; one per header
  std::vector<int> loop_of;  // innermost loop of each node; -1: none
};

// The loops of the nodes that node 0 reaches; `dominator` must be their immediate dominators.
Loops find_loops(const Edges& next, const std::vector<int>& dominator);

// ---- a function's basic blocks and the edges between them ----

struct BasicBlock {
  int first = 0, last = 0;  // instructions [first, last)
  std::vector<int> successors, predecessors;
  bool may_exit = false;  // lanes may leave the function here (ret, exit, end of the body)
};

struct BasicBlocks {
  std::vector<BasicBlock> blocks;  // in textual order; empty for an empty body
  std::vector<int> block_of;       // by instruction
};
BasicBlocks find_basic_blocks(const Function& function);

bool is_branch(const Instruction& in);

constexpr int kNoBlock = -1;
constexpr int kWholeFunction = -1;  // the view of the whole function

// A view of a function, or of one of its loops as if the loop were the whole function: the back
// edge is the exit, and edges that leave the loop are ignored.
class ControlFlowView {
 public:
  ControlFlowView(const std::vector<BasicBlock>& blocks, const Loops& loops, int loop);

  bool holds(int block) const { return number_[static_cast<size_t>(block)] >= 0; }
  // The immediate post-dominator of a block; kNoBlock: there is none.
  int post_dominator(int block) const;
  // Whether a path leads from the block to the exit: a return, or the next iteration of the loop.
  bool has_exit_path(int block) const;
  // All blocks from which a path leads to `to` without passing through it, and `to` itself.
  NodeSet blocks_reaching(int to) const;
  // All blocks that `from` reaches without passing through `without`. `from` is included only if it
  // is part of a cycle.
  NodeSet blocks_reached_from(int from, int without) const;

 private:
  int local(int block) const { return number_[static_cast<size_t>(block)]; }
  NodeSet reachable_blocks(const Edges& edges, int from, int without) const;

  // The block of each node; and the node of each block, -1: not in this view.
  std::vector<int> nodes_, number_;
  Edges successors_, predecessors_;  // by node; the last node is the exit (a loop's: its back edge)
  std::vector<int> post_dominators_;
};

}  // namespace lab32::ptx
