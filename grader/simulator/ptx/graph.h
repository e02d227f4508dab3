// Dominators and natural loops of a flow graph. The same questions are asked of the PTX and of the
// SASS, and the answers compared.
#pragma once

#include <vector>

namespace lab32::ptx {

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

}  // namespace lab32::ptx
