#include "simulator/ptx/graph.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "simulator/ptx/register_uses.h"

namespace lab32::ptx {

// ---- dominators and loops --------------------------------------------------------------------

Edges reversed_edges(const Edges& next) {
  Edges back(next.size());
  for (size_t a = 0; a < next.size(); ++a)
    for (const int b : next[a]) back[static_cast<size_t>(b)].push_back(static_cast<int>(a));
  return back;
}

std::vector<int> post_order(const Edges& next, int root) {
  std::vector<int> order;
  NodeSet seen(next.size(), false);
  std::vector<std::pair<int, size_t>> stack{{root, 0}};
  seen[static_cast<size_t>(root)] = true;
  while (!stack.empty()) {
    auto& [node, at] = stack.back();
    const auto& out = next[static_cast<size_t>(node)];
    if (at == out.size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    const int to = out[at++];
    if (seen[static_cast<size_t>(to)]) continue;
    seen[static_cast<size_t>(to)] = true;
    stack.emplace_back(to, 0);
  }
  return order;
}

std::vector<int> immediate_dominators(const Edges& next, int root) {
  const std::vector<int> order = post_order(next, root);
  const Edges back = reversed_edges(next);
  std::vector<int> number(next.size(), -1), dominator(next.size(), -1);
  for (size_t i = 0; i < order.size(); ++i)
    number[static_cast<size_t>(order[i])] = static_cast<int>(i);
  const auto num = [&](int n) { return number[static_cast<size_t>(n)]; };
  dominator[static_cast<size_t>(root)] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == root) continue;
      int best = -1;
      for (const int p : back[static_cast<size_t>(*it)]) {
        if (num(p) < 0 || dominator[static_cast<size_t>(p)] < 0) continue;
        if (best < 0) {
          best = p;
          continue;
        }
        int other = p;
        while (best != other) {
          while (num(best) < num(other)) best = dominator[static_cast<size_t>(best)];
          while (num(other) < num(best)) other = dominator[static_cast<size_t>(other)];
        }
      }
      if (dominator[static_cast<size_t>(*it)] != best) {
        dominator[static_cast<size_t>(*it)] = best;
        changed = true;
      }
    }
  }
  dominator[static_cast<size_t>(root)] = -1;
  return dominator;
}

bool dominates(const std::vector<int>& dominator, int a, int b) {
  while (b >= 0 && b != a) b = dominator[static_cast<size_t>(b)];
  return b == a;
}

Loops find_loops(const Edges& next, const std::vector<int>& dominator) {
  const size_t n = next.size();
  const Edges back = reversed_edges(next);
  const auto reachable = [&](int node) {
    return node == 0 || dominator[static_cast<size_t>(node)] >= 0;
  };
  std::vector<std::pair<size_t, Loop>> found;  // (number of nodes, loop)
  for (size_t header = 0; header < n; ++header) {
    const int top = static_cast<int>(header);
    if (!reachable(top)) continue;
    std::vector<int> work;
    for (const int tail : back[header])
      if (reachable(tail) && dominates(dominator, top, tail)) work.push_back(tail);
    if (work.empty()) continue;
    Loop loop;
    loop.header = top;
    loop.holds.assign(n, false);
    loop.holds[header] = true;
    size_t nodes = 1;
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      if (loop.holds[static_cast<size_t>(node)]) continue;
      loop.holds[static_cast<size_t>(node)] = true;
      ++nodes;
      for (const int p : back[static_cast<size_t>(node)])
        if (reachable(p)) work.push_back(p);
    }
    found.emplace_back(nodes, std::move(loop));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Loops loops;
  loops.loop_of.assign(n, -1);
  for (auto& [nodes, loop] : found) {
    // A loop that contains this header contains the whole loop. Larger loops come first in the
    // list, so loop_of is the smallest of them.
    loop.parent = loops.loop_of[static_cast<size_t>(loop.header)];
    for (size_t i = 0; i < n; ++i)
      if (loop.holds[i]) loops.loop_of[i] = static_cast<int>(loops.all.size());
    loops.all.push_back(std::move(loop));
  }
  return loops;
}

// ---- basic blocks ----------------------------------------------------------------------------

namespace {

// A trap ends the kernel, so its block has no successor.
bool ends_basic_block(const Instruction& in) {
  return is_branch(in) || in.op->traits.leaves_function() ||
         in.op->traits.transfer == ControlTransfer::trap;
}

bool never_continues(const Instruction& in) { return in.guard < 0 && ends_basic_block(in); }

std::vector<int> branch_targets_of(const Function& function, const Instruction& in) {
  switch (in.op->traits.transfer) {
    case ControlTransfer::branch:
      return {static_cast<int>(in.operands[0].value)};
    case ControlTransfer::table_branch:
      return function.branch_tables[static_cast<size_t>(in.branch_table)];
    default:
      return {};
  }
}

void find_blocks(const Function& function, BasicBlocks& flow) {
  const auto size = static_cast<int>(function.body.size());
  std::vector<char> leads(static_cast<size_t>(size) + 1, 0);
  leads[0] = 1;
  for (int i = 0; i < size; ++i) {
    const Instruction& in = function.body[static_cast<size_t>(i)];
    if (ends_basic_block(in)) leads[static_cast<size_t>(i) + 1] = 1;
    for (int target : branch_targets_of(function, in)) leads[static_cast<size_t>(target)] = 1;
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

// For each register: whether it is a predicate that is always true or always false. nvcc leaves
// branches on such predicates to ptxas, which removes them: `mov.pred %p7, 0; @%p7 bra $L__BB0_9;`.
std::vector<std::optional<bool>> constant_predicates(const Function& function) {
  std::vector<std::optional<bool>> value(function.registers.size());
  std::vector<char> defined(function.registers.size(), 0);
  for (const Instruction& in : function.body)
    for_each_register(function, in, [&](int reg, bool is_destination) {
      if (!is_destination) return;
      const auto r = static_cast<size_t>(reg);
      const bool constant = in.op->id == OpId::mov_pred && in.guard < 0 &&
                            in.operands[1].kind == Operand::Kind::integer;
      value[r] = constant && !defined[r] ? std::optional(in.operands[1].value != 0) : std::nullopt;
      defined[r] = 1;
    });
  return value;
}

void find_edges(const Function& function, BasicBlocks& flow) {
  const auto size = static_cast<int>(function.body.size());
  const std::vector<std::optional<bool>> constants = constant_predicates(function);
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    BasicBlock& block = flow.blocks[b];
    const Instruction& end = function.body[static_cast<size_t>(block.last) - 1];
    // Whether the branch is taken; absent if this depends on the lane.
    std::optional<bool> executes;
    if (ends_basic_block(end) && end.guard >= 0) {
      executes = constants[static_cast<size_t>(end.guard)];
      if (executes && end.guard_negated) executes = !*executes;
    }
    std::vector<int> targets;
    if (executes != false) targets = branch_targets_of(function, end);
    if (!never_continues(end) && executes != true) targets.push_back(block.last);
    block.may_exit = end.op->traits.leaves_function() && executes != false;
    for (int target : targets) {
      if (target == size) {  // running off the end returns
        block.may_exit = true;
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
  return in.op->traits.transfer == ControlTransfer::branch ||
         in.op->traits.transfer == ControlTransfer::table_branch;
}

BasicBlocks find_basic_blocks(const Function& function) {
  BasicBlocks flow;
  if (function.body.empty()) return flow;
  find_blocks(function, flow);
  find_edges(function, flow);
  return flow;
}

// ---- a function, or one of its loops ---------------------------------------------------------

ControlFlowView::ControlFlowView(const std::vector<BasicBlock>& blocks, const Loops& loops,
                                 int loop) {
  const int count = static_cast<int>(blocks.size());
  const Loop* const inside =
      loop == kWholeFunction ? nullptr : &loops.all[static_cast<size_t>(loop)];
  number_.assign(blocks.size(), -1);
  for (int b = 0; b < count; ++b) {
    if (inside != nullptr && !inside->holds[static_cast<size_t>(b)]) continue;
    number_[static_cast<size_t>(b)] = static_cast<int>(nodes_.size());
    nodes_.push_back(b);
  }
  const int out = static_cast<int>(nodes_.size());
  successors_.resize(nodes_.size() + 1);
  std::vector<int> sometimes;  // nodes from which some lanes leave the function
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const BasicBlock& block = blocks[static_cast<size_t>(nodes_[i])];
    for (const int to : block.successors) {
      if (inside != nullptr && to == inside->header)
        successors_[i].push_back(out);
      else if (holds(to))
        successors_[i].push_back(local(to));
    }
    if (inside != nullptr || !block.may_exit) continue;
    if (block.successors.empty())
      successors_[i].push_back(out);
    else
      sometimes.push_back(static_cast<int>(i));
  }
  // At a guarded ret some lanes leave the function and the others continue. It counts as an exit
  // only if there is no other one, as in `for (;;) { … @%p1 ret; }`.
  post_dominators_ = immediate_dominators(reversed_edges(successors_), out);
  bool another_way = false;
  for (const int i : sometimes) {
    if (post_dominators_[static_cast<size_t>(i)] >= 0) continue;
    successors_[static_cast<size_t>(i)].push_back(out);
    another_way = true;
  }
  predecessors_ = reversed_edges(successors_);
  if (another_way) post_dominators_ = immediate_dominators(predecessors_, out);
}

int ControlFlowView::post_dominator(int block) const {
  const int after = post_dominators_[static_cast<size_t>(local(block))];
  return after < 0 || after == static_cast<int>(nodes_.size()) ? kNoBlock
                                                               : nodes_[static_cast<size_t>(after)];
}

bool ControlFlowView::has_exit_path(int block) const {
  return post_dominators_[static_cast<size_t>(local(block))] >= 0;
}

NodeSet ControlFlowView::reachable_blocks(const Edges& edges, int from, int without) const {
  NodeSet seen(number_.size(), 0);
  std::vector<int> work{from};
  while (!work.empty()) {
    const int node = work.back();
    work.pop_back();
    for (const int to : edges[static_cast<size_t>(node)]) {
      if (to == without || to == static_cast<int>(nodes_.size())) continue;
      const auto block = static_cast<size_t>(nodes_[static_cast<size_t>(to)]);
      if (seen[block]) continue;
      seen[block] = true;
      work.push_back(to);
    }
  }
  return seen;
}

NodeSet ControlFlowView::blocks_reaching(int to) const {
  NodeSet from = reachable_blocks(predecessors_, local(to), local(to));
  from[static_cast<size_t>(to)] = true;
  return from;
}

NodeSet ControlFlowView::blocks_reached_from(int from, int without) const {
  return reachable_blocks(successors_, local(from), without == kNoBlock ? -1 : local(without));
}

}  // namespace lab32::ptx
