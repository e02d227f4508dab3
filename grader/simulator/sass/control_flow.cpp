#include "simulator/sass/control_flow.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lab32::sass {

// ---- loops and control dependence ------------------------------------------------------------

namespace {

void find_controlling_branches(ptx::Edges next, LoopsAndControlDependence& s) {
  const int n = static_cast<int>(s.reachable.size());
  // Node n is the exit. Nodes without a successor lead to it, and so does a block that only
  // branches to itself. The nodes of any other endless loop have no post-dominator.
  for (int i = 0; i < n; ++i) {
    auto& out = next[static_cast<size_t>(i)];
    if (out.empty() || (out.size() == 1 && out[0] == i)) out.push_back(n);
  }
  const std::vector<int> after = ptx::immediate_dominators(ptx::reversed_edges(next), n);
  s.controlling_branches.assign(static_cast<size_t>(n), {});
  for (int a = 0; a < n; ++a) {
    if (!s.reachable[static_cast<size_t>(a)] || next[static_cast<size_t>(a)].size() < 2) continue;
    for (int b : next[static_cast<size_t>(a)]) {
      for (int at = b; at >= 0 && at < n && at != after[static_cast<size_t>(a)];
           at = after[static_cast<size_t>(at)]) {
        auto& deciders = s.controlling_branches[static_cast<size_t>(at)];
        if (std::find(deciders.begin(), deciders.end(), a) == deciders.end()) deciders.push_back(a);
      }
    }
  }
}

}  // namespace

int LoopsAndControlDependence::loop_depth(int node) const {
  int depth = 0;
  for (int l = loop_of[static_cast<size_t>(node)]; l >= 0; l = loops[static_cast<size_t>(l)].parent)
    ++depth;
  return depth;
}

std::vector<int> LoopsAndControlDependence::all_controlling_branches(int node) const {
  std::vector<int> found = controlling_branches[static_cast<size_t>(node)];
  for (size_t i = 0; i < found.size(); ++i) {
    for (int d : controlling_branches[static_cast<size_t>(found[i])]) {
      if (std::find(found.begin(), found.end(), d) == found.end()) found.push_back(d);
    }
  }
  return found;
}

LoopsAndControlDependence analyse_control_structure(const ControlFlowGraph& graph) {
  LoopsAndControlDependence s;
  const size_t n = graph.next.size();
  if (n == 0) return s;
  ptx::Edges next = graph.next;
  next.emplace_back();  // the exit
  s.dominator = ptx::immediate_dominators(next, 0);
  ptx::Loops loops = ptx::find_loops(next, s.dominator);
  for (Loop& loop : loops.all) loop.holds.resize(n);  // no loop contains the exit
  s.loops = std::move(loops.all);
  s.loop_of = std::move(loops.loop_of);
  s.loop_of.resize(n);
  s.dominator.resize(n);
  s.reachable.resize(n);
  for (size_t i = 0; i < n; ++i) s.reachable[i] = i == 0 || s.dominator[i] >= 0;
  find_controlling_branches(next, s);
  return s;
}

// ---- basic blocks ----------------------------------------------------------------------------

namespace {

// The labels in the operands of a branch: "`(.L_x_12)" or (*"BRANCH_TARGETS .L_x_1,.L_x_2"*).
std::vector<std::string_view> target_labels_of(const SassInstruction& in) {
  constexpr std::string_view kTable = "BRANCH_TARGETS ";
  std::string_view s = in.operands;
  size_t open = s.find("`(");
  if (open != std::string_view::npos) return {s.substr(open + 2, s.find(')', open) - open - 2)};
  std::vector<std::string_view> targets;
  open = s.find(kTable);
  if (open == std::string_view::npos) return targets;
  s = s.substr(open + kTable.size());
  s = s.substr(0, s.find('"'));
  while (!s.empty()) {
    const size_t comma = s.find(',');
    targets.push_back(s.substr(0, comma));
    s = comma == std::string_view::npos ? std::string_view{} : s.substr(comma + 1);
  }
  return targets;
}

struct BasicBlockEnd {
  bool ends = false;       // the instruction ends a block
  bool falls = true;       // the next instruction may follow
  bool leaves = false;     // the function may end here
  bool diverted = false;   // BRA.DIV: only diverged warps take the jump
  bool converged = false;  // BRA.CONV: only converged warps take the jump
  std::vector<std::string_view> targets;
};

BasicBlockEnd basic_block_end_of(const SassInstruction& in) {
  BasicBlockEnd end;
  const std::string_view base = in.base();
  // A branch is conditional if it has a guard, or a predicate or register before its target: "BRA.U
  // !UP0, `(.L_x_1)".
  const bool conditional = !in.guard.empty() || in.operands.find(',') < in.operands.find("`(");
  if (base == "BRA" || base == "JMP") {
    end.ends = true;
    end.falls = conditional;
    end.targets = target_labels_of(in);
    end.diverted = in.has("DIV");
    end.converged = in.has("CONV");
    end.falls |= end.diverted || end.converged;
  } else if (base == "BRX" || base == "JMX" || base == "BRXU" || base == "JMXU") {
    end.ends = true;
    end.falls = !in.guard.empty();
    end.targets = target_labels_of(in);
  } else if (base == "EXIT" || base == "RET") {
    end.ends = end.leaves = true;
    end.falls = !in.guard.empty();
  } else if (base == "WARPSYNC" && in.has("COLLECTIVE")) {
    end.ends = end.diverted = true;
    end.targets = target_labels_of(in);
  }
  return end;
}

}  // namespace

FlowGraph build_flow_graph(const SassFunction& function) {
  FlowGraph flow;
  const size_t size = function.code.size();
  auto index_of = [&](std::string_view label) {
    auto found = function.labels.find(label);
    return found == function.labels.end() ? -1 : found->second;
  };
  std::vector<BasicBlockEnd> ends;
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  for (size_t i = 0; i < size; ++i) {
    ends.push_back(basic_block_end_of(function.code[i]));
    if (!ends[i].ends) continue;
    leads[i + 1] = true;
    if (ends[i].targets.empty() && !ends[i].leaves) flow.known = false;
    for (std::string_view label : ends[i].targets) {
      const int target = index_of(label);
      if (target >= 0)
        leads[static_cast<size_t>(target)] = true;
      else
        flow.known = false;
    }
  }
  for (size_t i = 0; i < size; ++i) {
    if (leads[i]) flow.blocks.push_back({static_cast<int>(i), 0});
    flow.blocks.back().last = static_cast<int>(i) + 1;
    flow.block_of.push_back(static_cast<int>(flow.blocks.size()) - 1);
  }
  const int exit = static_cast<int>(flow.blocks.size());
  ControlFlowGraph all, converged;
  for (const FlowGraph::InstructionRange& block : flow.blocks) {
    const BasicBlockEnd& end = ends[static_cast<size_t>(block.last) - 1];
    std::vector<int> next;
    if (end.falls)
      next.push_back(static_cast<size_t>(block.last) < size
                         ? flow.block_of[static_cast<size_t>(block.last)]
                         : exit);
    if (end.leaves) next.push_back(exit);
    converged.next.push_back(end.converged ? std::vector<int>{} : next);
    for (std::string_view label : end.targets) {
      const int target = index_of(label);
      if (target < 0 || static_cast<size_t>(target) >= size) continue;
      next.push_back(flow.block_of[static_cast<size_t>(target)]);
      if (end.converged)
        converged.next.back() = {next.back()};
      else if (!end.diverted)
        converged.next.back() = next;
    }
    all.next.push_back(std::move(next));
  }
  // Loops and control dependence are determined for a converged warp.
  flow.structure = analyse_control_structure(converged);
  const LoopsAndControlDependence whole = analyse_control_structure(all);
  for (size_t b = 0; b < flow.blocks.size(); ++b)
    flow.slow_path.push_back(whole.reachable[b] && !flow.structure.reachable[b]);
  return flow;
}

// ---- instructions by line of the PTX ---------------------------------------------------------

SassInstructionsByPtxLine::SassInstructionsByPtxLine(const Disassembly& listing) {
  flows_.reserve(listing.functions.size());
  for (const SassFunction& f : listing.functions) {
    flows_.push_back(build_flow_graph(f));
    const FlowGraph& flow = flows_.back();
    for (size_t i = 0; i < f.code.size(); ++i) {
      const SassInstruction& in = f.code[i];
      const int block = flow.block_of[i];
      // If the targets of a jump are unknown, every block may be reachable.
      if (flow.known && !flow.structure.reachable[static_cast<size_t>(block)] &&
          !flow.slow_path[static_cast<size_t>(block)])
        continue;
      if (in.never_runs()) continue;
      by_line_[in.ptx_line].push_back({&f, &flow, &in, static_cast<int>(i), block, memory_op(in)});
    }
  }
}

const std::vector<SassInstructionSite>& SassInstructionsByPtxLine::sites_of_line(
    int ptx_line) const {
  static const std::vector<SassInstructionSite> none;
  auto found = by_line_.find(ptx_line);
  return found == by_line_.end() ? none : found->second;
}

}  // namespace lab32::sass
