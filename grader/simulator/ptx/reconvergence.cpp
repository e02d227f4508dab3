// Where the lanes that a branch parts meet again: at its immediate post-dominator, within the loop
// that they stay in.
//
// Of `for (…) { if (a) { …; if (b) break; } … }` the branch of `a` has its post-dominator behind
// the loop. A GPU brings the lanes together behind the `if` all the same, and lets go those that
// break: else a warp's lanes would go round the loop one by one (data/measured/divergence). So the
// post-dominator is sought where edges that leave the loop count for nothing, and its next round is
// the way out.
#include "simulator/ptx/reconvergence.h"

#include <algorithm>

#include "simulator/ptx/graph.h"

namespace lab32::ptx {
namespace {

constexpr int kNone = -1;

class Reconvergence {
 public:
  Reconvergence(const Function& function, ControlFlow& flow)
      : function_(function), flow_(flow), blocks_(static_cast<int>(flow.blocks.size())) {
    Edges next;
    for (const BasicBlock& block : flow.blocks) next.push_back(block.successors);
    loops_ = find_loops(next, immediate_dominators(next, 0));
  }

  void find() {
    stays_in_.assign(flow_.blocks.size(), kNone);
    for (int b = 0; b < blocks_; ++b) stays_in_[at(b)] = loop_of_branch(b);
    meets_.assign(flow_.blocks.size(), kNone);
    found_.assign(flow_.blocks.size(), false);
    behind_.assign(loops_.all.size(), kNone);
    // Lanes that do not meet before the next round may meet in a later one. In `while (true) { if
    // (a) continue; x; if (b) break; }` that is at x, as if those that continue went round a loop
    // of their own: so it is looked for in ever wider views.
    for (int l = loops(); l-- > 0;) look_at(l);
    look_at_all();
    for (int b = 0; b < blocks_; ++b)
      if (!found_[at(b)] && stays_in_[at(b)] != kNone)
        meets_[at(b)] = loop(stays_in_[at(b)]).header;
    for (int l = 0; l < loops(); ++l)
      if (behind_[at(l)] == kNone && loop(l).parent != kNone)
        behind_[at(l)] = loop(loop(l).parent).header;
    tell();
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  int loops() const { return static_cast<int>(loops_.all.size()); }
  const Loop& loop(int l) const { return loops_.all[at(l)]; }
  bool holds(int l, int block) const { return l == kNone || loop(l).holds[at(block)]; }

  // The innermost loop around the block which at least two of its ways stay in.
  int loop_of_branch(int block) const {
    const std::vector<int>& to = flow_.blocks[at(block)].successors;
    int l = loops_.loop_of[at(block)];
    while (l != kNone &&
           std::count_if(to.begin(), to.end(), [&](int s) { return holds(l, s); }) < 2)
      l = loop(l).parent;
    return l;
  }

  // Of each node that leads to the last one; kNone where that is it.
  static std::vector<int> post_dominators(const Edges& next) {
    const int out = static_cast<int>(next.size()) - 1;
    std::vector<int> after = immediate_dominators(reversed(next), out);
    std::replace(after.begin(), after.end(), out, kNone);
    return after;
  }

  void look_at_all() {
    Edges next(flow_.blocks.size() + 1);
    std::vector<int> later;
    for (int b = 0; b < blocks_; ++b) {
      const BasicBlock& block = flow_.blocks[at(b)];
      next[at(b)] = block.successors;
      if (!block.ends_lanes) continue;
      if (block.successors.empty())
        next[at(b)].push_back(blocks_);
      else
        later.push_back(b);
    }
    // A guarded ret lets some lanes leave and the others go on: for those it is no way out, so
    // it counts only where there is no other, as in `for (;;) { … @%p1 ret; }`.
    const std::vector<int> leads_out = immediate_dominators(reversed(next), blocks_);
    for (const int b : later)
      if (leads_out[at(b)] == kNone) next[at(b)].push_back(blocks_);
    const std::vector<int> after = post_dominators(next);
    for (int b = 0; b < blocks_; ++b) take(b, kNone, after[at(b)]);
    for (int l = 0; l < loops(); ++l) {
      int meet = loop(l).header;
      while (meet != kNone && holds(l, meet)) meet = after[at(meet)];
      take_behind(l, meet);
    }
  }

  // The loop alone, as if it were the function.
  void look_at(int l) {
    const int header = loop(l).header;
    std::vector<int> nodes, number(flow_.blocks.size(), kNone);
    for (int b = 0; b < blocks_; ++b) {
      if (!holds(l, b)) continue;
      number[at(b)] = static_cast<int>(nodes.size());
      nodes.push_back(b);
    }
    const int out = static_cast<int>(nodes.size());
    Edges next(nodes.size() + 1);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (const int s : flow_.blocks[at(nodes[i])].successors)
        if (holds(l, s)) next[i].push_back(s == header ? out : number[at(s)]);
    const std::vector<int> after = post_dominators(next);
    const auto meeting = [&](int i) { return i == kNone ? kNone : nodes[at(i)]; };
    for (size_t i = 0; i < nodes.size(); ++i) take(nodes[i], l, meeting(after[i]));
    for (int inner = l + 1; inner < loops(); ++inner) {
      if (!holds(l, loop(inner).header)) continue;
      int meet = number[at(loop(inner).header)];
      while (meet != kNone && holds(inner, nodes[at(meet)])) meet = after[at(meet)];
      take_behind(inner, meeting(meet));
    }
  }

  // The block's lanes meet there, as seen in loop `view`, if that is where they stay. (An outer
  // loop's header is the way out of its view, but may be a place like others in a wider one.)
  void take(int block, int view, int meet) {
    const int own = stays_in_[at(block)];
    if (found_[at(block)] || (own == kNone ? view != kNone : !holds(view, loop(own).header)))
      return;
    if (own != kNone && (meet == kNone || meet == loop(own).header || !holds(own, meet))) return;
    found_[at(block)] = true;
    meets_[at(block)] = meet;
  }
  void take_behind(int l, int meet) {
    const int own = loop(l).parent;
    if (behind_[at(l)] != kNone || meet == kNone) return;
    if (own == kNone || (meet != loop(own).header && holds(own, meet))) behind_[at(l)] = meet;
  }

  void tell() {
    const auto place = [&](int block) {
      return block == kNone ? kNoReconverge : static_cast<uint32_t>(flow_.blocks[at(block)].first);
    };
    for (int b = 0; b < blocks_; ++b) {
      const size_t last = at(flow_.blocks[at(b)].last - 1);
      if (is_branch(function_.body[last])) flow_.reconverge[last] = place(meets_[at(b)]);
    }
    for (int l = 0; l < loops(); ++l)
      flow_.loops.push_back({loop(l).parent, place(behind_[at(l)])});
    flow_.loop_of = loops_.loop_of;
  }

  const Function& function_;
  ControlFlow& flow_;
  const int blocks_;
  Loops loops_;
  std::vector<int> stays_in_;  // by block
  std::vector<int> meets_;     // by block; kNone: nowhere
  std::vector<bool> found_;    // meets_ is final
  std::vector<int> behind_;    // by loop
};

}  // namespace

void find_meeting_places(const Function& function, ControlFlow& flow) {
  Reconvergence(function, flow).find();
}

}  // namespace lab32::ptx
