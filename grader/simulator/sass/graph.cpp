// Control dependence from post-dominators, by Ferrante, Ottenstein and Warren (1987).
#include "simulator/sass/graph.h"

#include <algorithm>
#include <utility>

namespace lab32::sass {
namespace {

void find_deciders(ptx::Edges next, Structure& s) {
  const int n = static_cast<int>(s.reachable.size());
  // A loop without an end never reaches the exit: give it a way there, so that every node has a
  // post-dominator.
  for (int i = 0; i < n; ++i) {
    auto& out = next[static_cast<size_t>(i)];
    if (out.empty() || (out.size() == 1 && out[0] == i)) out.push_back(n);
  }
  const std::vector<int> after = ptx::immediate_dominators(ptx::reversed(next), n);
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
  ptx::Edges next = graph.next;
  next.emplace_back();  // the exit
  s.dominator = ptx::immediate_dominators(next, 0);
  ptx::Loops loops = ptx::find_loops(next, s.dominator);
  for (Loop& loop : loops.all) loop.holds.resize(n);  // the exit is in none
  s.loops = std::move(loops.all);
  s.loop_of = std::move(loops.loop_of);
  s.loop_of.resize(n);
  s.dominator.resize(n);
  s.reachable.resize(n);
  for (size_t i = 0; i < n; ++i) s.reachable[i] = i == 0 || s.dominator[i] >= 0;
  find_deciders(next, s);
  return s;
}

}  // namespace lab32::sass
