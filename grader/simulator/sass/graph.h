// Dominators, loops and control dependence of a flow graph: the same questions are asked of the
// PTX and of the SASS, and the answers compared.
#pragma once

#include <vector>

namespace lab32::sass {

// Node 0 is the entry. An edge to node `size()` leaves the function.
struct Graph {
  std::vector<std::vector<int>> next;
  int size() const { return static_cast<int>(next.size()); }
};

struct Loop {
  int header = 0;
  int parent = -1;          // index of the loop around it, -1: none
  std::vector<bool> holds;  // by node
};

struct Structure {
  std::vector<bool> reachable;
  std::vector<int> dominator;                // immediate; -1 for the entry and unreachable nodes
  std::vector<Loop> loops;                   // natural loops, one a header
  std::vector<int> loop_of;                  // innermost loop of each node, -1: none
  std::vector<std::vector<int>> decided_by;  // control dependence: the nodes whose branch decides

  bool dominates(int a, int b) const;
  int depth(int node) const;  // loops around the node
  // decided_by, transitively.
  std::vector<int> all_deciders(int node) const;
};

Structure analyse(const Graph& graph);

}  // namespace lab32::sass
