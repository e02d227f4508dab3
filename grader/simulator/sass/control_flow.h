// The control flow of a SASS function: basic blocks, loops and control dependence, and the index
// from lines of the PTX to SASS instructions (SassInstructionsByPtxLine).
// analyse_control_structure() works on any graph, so that PTX and SASS can be compared.
#pragma once

#include <map>
#include <vector>

#include "simulator/ptx/graph.h"
#include "simulator/sass/listing.h"
#include "simulator/sass/operands.h"

namespace lab32::sass {

// ---- loops and control dependence, computed for PTX and for SASS and compared ----
// ----

using ptx::Loop;

// Node 0 is the entry. An edge to node `size()` leaves the function.
struct ControlFlowGraph {
  ptx::Edges next;
  int size() const { return static_cast<int>(next.size()); }
};

struct LoopsAndControlDependence {
  std::vector<bool> reachable;
  std::vector<int> dominator;  // immediate; -1 for the entry and unreachable nodes
  std::vector<Loop> loops;     // natural loops, one per header
  std::vector<int> loop_of;    // innermost loop of each node, -1: none
  std::vector<std::vector<int>>
      // Control dependence: the nodes whose branch decides whether the node runs.
      controlling_branches;

  bool dominates(int a, int b) const { return ptx::dominates(dominator, a, b); }
  int loop_depth(int node) const;  // number of loops around the node
  // The transitive closure of controlling_branches.
  std::vector<int> all_controlling_branches(int node) const;
};

LoopsAndControlDependence analyse_control_structure(const ControlFlowGraph& graph);

// The basic blocks of a SASS function, and which of them are slow paths for diverged warps.
struct FlowGraph {
  struct InstructionRange {
    int first = 0, last = 0;  // instructions [first, last)
  };
  std::vector<InstructionRange> blocks;
  std::vector<int> block_of;  // by instruction
  LoopsAndControlDependence structure;
  // For each block: true if only warps run it whose lanes have not reconverged (BRA.DIV, BRA.CONV).
  // Such a block is a second copy of code with warp-wide instructions, or a call that waits for the
  // other lanes.
  std::vector<bool> slow_path;
  bool known = true;  // false: the listing does not name the targets of some jump
};

FlowGraph build_flow_graph(const SassFunction& function);

// ---- which instructions come from which line of the PTX, over all kernels of a listing ----

// One SASS instruction, with its position in the control flow.
struct SassInstructionSite {
  const SassFunction* function = nullptr;
  const FlowGraph* flow = nullptr;
  const SassInstruction* instruction = nullptr;
  int index = 0;  // in function->code
  int block = 0;
  std::optional<MemoryOp> op;

  bool slow_path() const { return flow->slow_path[static_cast<size_t>(block)]; }
  int loop_depth() const { return flow->structure.loop_depth(block); }
  // The constants in the addresses of two instructions with equal keys can be compared, unless the
  // base register changes in between.
  auto address_group() const { return std::make_tuple(function, block, op->base); }
};

class SassInstructionsByPtxLine {
 public:
  explicit SassInstructionsByPtxLine(const Disassembly& listing);

  // All instructions of a PTX line, except dead code behind the last EXIT and instructions whose
  // guard is never true.
  const std::vector<SassInstructionSite>& sites_of_line(int ptx_line) const;
  const std::map<int, std::vector<SassInstructionSite>>& by_line() const { return by_line_; }

 private:
  std::vector<FlowGraph> flows_;
  std::map<int, std::vector<SassInstructionSite>> by_line_;
};

}  // namespace lab32::sass
