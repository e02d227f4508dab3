// Basic blocks and reconvergence points.
#include "simulator/ptx/control_flow.h"

#include <algorithm>

namespace lab32::ptx {
namespace {

bool is_branch(const Instruction& in) {
  return in.op->traits.flow == Flow::branch || in.op->traits.flow == Flow::table_branch;
}

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

void make_blocks(const Function& function, ControlFlow& flow) {
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

void make_edges(const Function& function, ControlFlow& flow) {
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

// Immediate post-dominators by Cooper, Harvey and Kennedy ("A simple, fast dominance algorithm")
// on the reversed graph, whose root is a virtual block behind all ways out.
class PostDominators {
 public:
  explicit PostDominators(const std::vector<BasicBlock>& blocks)
      : blocks_(blocks), exit_(static_cast<int>(blocks.size())) {
    leads_to_exit_.resize(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
      leads_to_exit_[b] = blocks[b].ends_lanes && blocks[b].successors.empty();
    }
    order();
    // A guarded ret lets some lanes leave and the others go on: for those it is no way out, so
    // it counts only where there is no other, as in `for (;;) { … @%p1 ret; }`.
    bool another_round = false;
    for (size_t b = 0; b < blocks.size(); ++b) {
      if (!blocks[b].ends_lanes || number_[b] >= 0) continue;
      leads_to_exit_[b] = true;
      another_round = true;
    }
    if (another_round) order();
    solve();
  }

  // The block; the virtual exit's number (blocks.size()) or -1 for a block from which no way out
  // leads.
  int of(int block) const { return parent_[static_cast<size_t>(block)]; }

 private:
  bool leads_to_exit(int block) const { return leads_to_exit_[static_cast<size_t>(block)]; }

  // Postorder of the reversed graph from the exit, with a stack of its own: long functions have
  // chains of many thousand blocks.
  void order() {
    number_.assign(blocks_.size() + 1, -1);
    postorder_.clear();
    std::vector<char> seen(blocks_.size() + 1, 0);
    std::vector<int> exits;
    for (int b = 0; b < exit_; ++b) {
      if (leads_to_exit(b)) exits.push_back(b);
    }
    const auto sources = [&](int b) -> const std::vector<int>& {
      return b == exit_ ? exits : blocks_[static_cast<size_t>(b)].predecessors;
    };
    std::vector<std::pair<int, size_t>> stack{{exit_, 0}};
    seen[static_cast<size_t>(exit_)] = 1;
    while (!stack.empty()) {
      auto& [block, next] = stack.back();
      const std::vector<int>& from = sources(block);
      if (next < from.size()) {
        const int b = from[next++];
        if (!seen[static_cast<size_t>(b)]) {
          seen[static_cast<size_t>(b)] = 1;
          stack.push_back({b, 0});
        }
        continue;
      }
      number_[static_cast<size_t>(block)] = static_cast<int>(postorder_.size());
      postorder_.push_back(block);
      stack.pop_back();
    }
  }

  void solve() {
    parent_.assign(blocks_.size() + 1, -1);
    parent_[static_cast<size_t>(exit_)] = exit_;
    for (bool changed = true; changed;) {
      changed = false;
      for (auto b = postorder_.rbegin() + 1; b != postorder_.rend(); ++b) {
        int meet = leads_to_exit(*b) ? exit_ : -1;
        for (int s : blocks_[static_cast<size_t>(*b)].successors) {
          if (parent_[static_cast<size_t>(s)] == -1) continue;  // not yet, or no way out of it
          meet = meet == -1 ? s : intersect(meet, s);
        }
        if (parent_[static_cast<size_t>(*b)] != meet) {
          parent_[static_cast<size_t>(*b)] = meet;
          changed = true;
        }
      }
    }
  }

  int intersect(int a, int b) const {
    while (a != b) {
      while (number(a) < number(b)) a = parent_[static_cast<size_t>(a)];
      while (number(b) < number(a)) b = parent_[static_cast<size_t>(b)];
    }
    return a;
  }
  int number(int block) const { return number_[static_cast<size_t>(block)]; }

  const std::vector<BasicBlock>& blocks_;
  const int exit_;
  std::vector<bool> leads_to_exit_;
  std::vector<int> postorder_, number_, parent_;
};

}  // namespace

ControlFlow analyse_control_flow(const Function& function) {
  ControlFlow flow;
  flow.reconverge.assign(function.body.size(), kNoReconverge);
  if (function.body.empty()) return flow;
  make_blocks(function, flow);
  make_edges(function, flow);
  const PostDominators post_dominators(flow.blocks);
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const auto last = static_cast<size_t>(flow.blocks[b].last) - 1;
    const int meet = post_dominators.of(static_cast<int>(b));
    if (!is_branch(function.body[last]) || meet < 0 ||
        meet == static_cast<int>(flow.blocks.size())) {
      continue;
    }
    flow.reconverge[last] = static_cast<uint32_t>(flow.blocks[static_cast<size_t>(meet)].first);
  }
  return flow;
}

}  // namespace lab32::ptx
