// A function, or one of its loops alone, as if it were the function: the next round is the way out,
// and edges that leave the loop count for nothing.
#pragma once

#include <vector>

#include "simulator/ptx/basic_blocks.h"
#include "simulator/ptx/graph.h"

namespace lab32::ptx {

constexpr int kNoBlock = -1;
constexpr int kWhole = -1;  // the view of the whole function, among those of its loops

class FlowView {
 public:
  FlowView(const std::vector<BasicBlock>& blocks, const Loops& loops, int loop);

  bool holds(int block) const { return number_[static_cast<size_t>(block)] >= 0; }
  // The immediate post-dominator; kNoBlock: there is none.
  int post_dominator(int block) const;
  // Whether a way leads on from the block: to a return, or to the next round.
  bool leads_out(int block) const;
  // The blocks that come to `to`, itself too, without passing it.
  NodeSet that_come_to(int to) const;
  // The blocks that `from` comes to without passing `without`; not itself, but by a loop inside.
  NodeSet reached_from(int from, int without) const;

 private:
  int local(int block) const { return number_[static_cast<size_t>(block)]; }
  NodeSet spread(const Edges& edges, int from, int without) const;

  std::vector<int> nodes_, number_;  // block by node; node by block, -1: not in here
  Edges next_, back_;                // by node; the last one is the way out
  std::vector<int> after_;
};

}  // namespace lab32::ptx
