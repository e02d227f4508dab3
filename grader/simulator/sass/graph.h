// Loops and control dependence of a flow graph: the same questions are asked of the PTX and of the
// SASS, and the answers compared.
#pragma once

#include <vector>

#include "simulator/ptx/graph.h"

namespace lab32::sass {

using ptx::Loop;

// Node 0 is the entry. An edge to node `size()` leaves the function.
struct Graph {
  ptx::Edges next;
  int size() const { return static_cast<int>(next.size()); }
};

struct Structure {
  std::vector<bool> reachable;
  std::vector<int> dominator;                // immediate; -1 for the entry and unreachable nodes
  std::vector<Loop> loops;                   // natural loops, one a header
  std::vector<int> loop_of;                  // innermost loop of each node, -1: none
  std::vector<std::vector<int>> decided_by;  // control dependence: the nodes whose branch decides

  bool dominates(int a, int b) const { return ptx::dominates(dominator, a, b); }
  int depth(int node) const;  // loops around the node
  // decided_by, transitively.
  std::vector<int> all_deciders(int node) const;
};

Structure analyse(const Graph& graph);

}  // namespace lab32::sass
