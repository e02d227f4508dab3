// Immediate dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
// All with stacks of their own: long functions have chains of many thousand blocks.
#include "simulator/ptx/graph.h"

#include <algorithm>
#include <utility>

namespace lab32::ptx {

Edges reversed(const Edges& next) {
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
  const Edges back = reversed(next);
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
  const Edges back = reversed(next);
  const auto reachable = [&](int node) {
    return node == 0 || dominator[static_cast<size_t>(node)] >= 0;
  };
  std::vector<std::pair<size_t, Loop>> found;  // with the number of nodes
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
    // What holds the header holds the loop, and the last one that was put there is the smallest.
    loop.parent = loops.loop_of[static_cast<size_t>(loop.header)];
    for (size_t i = 0; i < n; ++i)
      if (loop.holds[i]) loops.loop_of[i] = static_cast<int>(loops.all.size());
    loops.all.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace lab32::ptx
