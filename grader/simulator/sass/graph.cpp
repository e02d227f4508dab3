// Immediate dominators by Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001);
// control dependence from post-dominators by Ferrante, Ottenstein and Warren (1987).
#include "simulator/sass/graph.h"

#include <algorithm>
#include <numeric>

namespace lab32::sass {
namespace {

using Edges = std::vector<std::vector<int>>;

Edges reversed(const Edges& next) {
  Edges back(next.size());
  for (size_t a = 0; a < next.size(); ++a) {
    for (int b : next[a]) back[static_cast<size_t>(b)].push_back(static_cast<int>(a));
  }
  return back;
}

std::vector<int> post_order(const Edges& next, int root) {
  std::vector<int> order;
  std::vector<bool> seen(next.size(), false);
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

// -1 for the root and for what it does not reach.
std::vector<int> immediate_dominators(const Edges& next, int root) {
  const std::vector<int> order = post_order(next, root);
  const Edges back = reversed(next);
  std::vector<int> number(next.size(), -1), dominator(next.size(), -1);
  for (size_t i = 0; i < order.size(); ++i)
    number[static_cast<size_t>(order[i])] = static_cast<int>(i);
  auto num = [&](int n) { return number[static_cast<size_t>(n)]; };
  dominator[static_cast<size_t>(root)] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it == root) continue;
      int best = -1;
      for (int p : back[static_cast<size_t>(*it)]) {
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

void find_loops(const Edges& back, Structure& s) {
  const size_t n = s.reachable.size();
  for (size_t header = 0; header < n; ++header) {
    if (!s.reachable[header]) continue;
    Loop loop;
    loop.header = static_cast<int>(header);
    loop.holds.assign(n, false);
    std::vector<int> work;
    for (const int tail : back[header])
      if (s.reachable[static_cast<size_t>(tail)] && s.dominates(loop.header, tail))
        work.push_back(tail);
    if (work.empty()) continue;
    loop.holds[header] = true;
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      if (loop.holds[static_cast<size_t>(node)]) continue;
      loop.holds[static_cast<size_t>(node)] = true;
      for (int p : back[static_cast<size_t>(node)]) {
        if (s.reachable[static_cast<size_t>(p)]) work.push_back(p);
      }
    }
    s.loops.push_back(std::move(loop));
  }
  auto nodes = [&](int loop) {
    const auto& holds = s.loops[static_cast<size_t>(loop)].holds;
    return std::count(holds.begin(), holds.end(), true);
  };
  // The smallest loop that holds a node is its innermost one.
  auto innermost = [&](int node, int but) {
    int best = -1;
    for (int l = 0; l < static_cast<int>(s.loops.size()); ++l) {
      if (l == but || !s.loops[static_cast<size_t>(l)].holds[static_cast<size_t>(node)]) continue;
      if (but >= 0 && nodes(l) <= nodes(but)) continue;
      if (best < 0 || nodes(l) < nodes(best)) best = l;
    }
    return best;
  };
  s.loop_of.resize(n);
  for (size_t i = 0; i < n; ++i) s.loop_of[i] = innermost(static_cast<int>(i), -1);
  for (int l = 0; l < static_cast<int>(s.loops.size()); ++l)
    s.loops[static_cast<size_t>(l)].parent = innermost(s.loops[static_cast<size_t>(l)].header, l);
}

void find_deciders(Edges next, Structure& s) {
  const int n = static_cast<int>(s.reachable.size());
  // A loop without an end never reaches the exit: give it a way there, so that every node has a
  // post-dominator.
  for (int i = 0; i < n; ++i) {
    auto& out = next[static_cast<size_t>(i)];
    if (out.empty() || (out.size() == 1 && out[0] == i)) out.push_back(n);
  }
  const std::vector<int> after = immediate_dominators(reversed(next), n);
  s.decided_by.assign(static_cast<size_t>(n), {});
  for (int a = 0; a < n; ++a) {
    if (!s.reachable[static_cast<size_t>(a)] || next[static_cast<size_t>(a)].size() < 2) continue;
    for (int b : next[static_cast<size_t>(a)]) {
      for (int at = b; at >= 0 && at < n && at != after[static_cast<size_t>(a)];
           at = after[static_cast<size_t>(at)]) {
        auto& deciders = s.decided_by[static_cast<size_t>(at)];
        if (std::find(deciders.begin(), deciders.end(), a) == deciders.end()) deciders.push_back(a);
      }
    }
  }
}

}  // namespace

bool Structure::dominates(int a, int b) const {
  while (b >= 0 && b != a) b = dominator[static_cast<size_t>(b)];
  return b == a;
}

int Structure::depth(int node) const {
  int depth = 0;
  for (int l = loop_of[static_cast<size_t>(node)]; l >= 0; l = loops[static_cast<size_t>(l)].parent)
    ++depth;
  return depth;
}

std::vector<int> Structure::all_deciders(int node) const {
  std::vector<int> found = decided_by[static_cast<size_t>(node)];
  for (size_t i = 0; i < found.size(); ++i) {
    for (int d : decided_by[static_cast<size_t>(found[i])]) {
      if (std::find(found.begin(), found.end(), d) == found.end()) found.push_back(d);
    }
  }
  return found;
}

Structure analyse(const Graph& graph) {
  Structure s;
  const size_t n = graph.next.size();
  if (n == 0) return s;
  Edges next = graph.next;
  next.emplace_back();  // the exit
  s.reachable.assign(n, false);
  for (int node : post_order(next, 0)) {
    if (node < graph.size()) s.reachable[static_cast<size_t>(node)] = true;
  }
  s.dominator = immediate_dominators(next, 0);
  s.dominator.resize(n);
  find_loops(reversed(next), s);
  find_deciders(next, s);
  return s;
}

}  // namespace lab32::sass
