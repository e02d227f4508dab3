#include "simulator/ptx/flow_view.h"

namespace lab32::ptx {

FlowView::FlowView(const std::vector<BasicBlock>& blocks, const Loops& loops, int loop) {
  const int count = static_cast<int>(blocks.size());
  const Loop* const inside = loop == kWhole ? nullptr : &loops.all[static_cast<size_t>(loop)];
  number_.assign(blocks.size(), -1);
  for (int b = 0; b < count; ++b) {
    if (inside != nullptr && !inside->holds[static_cast<size_t>(b)]) continue;
    number_[static_cast<size_t>(b)] = static_cast<int>(nodes_.size());
    nodes_.push_back(b);
  }
  const int out = static_cast<int>(nodes_.size());
  next_.resize(nodes_.size() + 1);
  std::vector<int> sometimes;  // leave the function
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const BasicBlock& block = blocks[static_cast<size_t>(nodes_[i])];
    for (const int to : block.successors) {
      if (inside != nullptr && to == inside->header)
        next_[i].push_back(out);
      else if (holds(to))
        next_[i].push_back(local(to));
    }
    if (inside != nullptr || !block.ends_lanes) continue;
    if (block.successors.empty())
      next_[i].push_back(out);
    else
      sometimes.push_back(static_cast<int>(i));
  }
  // A guarded ret lets some lanes leave and the others go on: for those it is no way out, so it
  // counts only where there is no other, as in `for (;;) { … @%p1 ret; }`.
  after_ = immediate_dominators(reversed(next_), out);
  bool another_way = false;
  for (const int i : sometimes) {
    if (after_[static_cast<size_t>(i)] >= 0) continue;
    next_[static_cast<size_t>(i)].push_back(out);
    another_way = true;
  }
  back_ = reversed(next_);
  if (another_way) after_ = immediate_dominators(back_, out);
}

int FlowView::post_dominator(int block) const {
  const int after = after_[static_cast<size_t>(local(block))];
  return after < 0 || after == static_cast<int>(nodes_.size()) ? kNoBlock
                                                               : nodes_[static_cast<size_t>(after)];
}

bool FlowView::leads_out(int block) const { return after_[static_cast<size_t>(local(block))] >= 0; }

NodeSet FlowView::spread(const Edges& edges, int from, int without) const {
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

NodeSet FlowView::that_come_to(int to) const {
  NodeSet from = spread(back_, local(to), local(to));
  from[static_cast<size_t>(to)] = true;
  return from;
}

NodeSet FlowView::reached_from(int from, int without) const {
  return spread(next_, local(from), without == kNoBlock ? -1 : local(without));
}

}  // namespace lab32::ptx
