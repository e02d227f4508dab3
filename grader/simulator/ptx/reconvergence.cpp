// Where diverged lanes meet again: found as ptxas finds it, by what its machine code shows (BSSY,
// BREAK and BSYNC; grader/tools/measure/divergence has the shapes that were tried, and what an H200
// counts).
//
// 1. At the immediate post-dominator, as seen in the innermost loop in which two of the ways stay.
//    Who leaves the loop meanwhile is not waited for: with `for (…) { if (a) { …; if (b) break; }
//    }` the others meet behind the `if`.
// 2. But not where some leave that loop and some a loop around it, too: then the lanes meet behind
//    the loop only.
// 3. Where they part and do not meet before the next round, they may meet in a later one. In
//    `while (true) { if (a) continue; x; if (b) break; }` that is at x, as if those that continue
//    went round a loop of their own. Of three ways back or more ptxas makes one: then they do not.
// 4. Also at a place that some of them avoid: in `if (a) { …; if (b) return; } x;` at x. Not where
//    some jump to one place behind it and some to another.
#include "simulator/ptx/reconvergence.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/ptx/graph.h"

namespace lab32::ptx {
namespace {

struct Place {
  int block = kNoBlock;
  int view = kWholeFunction;  // in which it was found
  bool operator<(const Place& other) const {
    return std::tie(block, view) < std::tie(other.block, other.view);
  }
};

// A place that some lanes avoid, which part at `from` and pass through blocks `inside`.
struct AvoidedPlace {
  Place at;
  int from;
  NodeSet inside;
  bool leads_on(int block) const {  // towards it
    return block == at.block || inside[static_cast<size_t>(block)];
  }
};

class Finder {
 public:
  explicit Finder(const std::vector<BasicBlock>& blocks)
      : block_(blocks), blocks_(static_cast<int>(blocks.size())) {
    Edges next;
    for (const BasicBlock& block : blocks) next.push_back(block.successors);
    dominator_ = immediate_dominators(next, 0);
    loops_ = find_loops(next, dominator_);
    const std::vector<int> order = post_order(next, 0);
    rank_.assign(blocks.size(), blocks_);
    for (size_t i = 0; i < order.size(); ++i) rank_[at(order[i])] = blocks_ - static_cast<int>(i);
    for (int l = 0; l < loops(); ++l) views_.emplace_back(blocks, loops_, l);
    views_.emplace_back(blocks, loops_, kWholeFunction);
  }

  ReconvergencePoints find() {
    nearest_.resize(block_.size());
    last_.resize(block_.size());
    for (int b = 0; b < blocks_; ++b) {
      const size_t ways = ways_of(b).size();
      if (ways < 2) continue;
      nearest_[at(b)] = last_[at(b)] = where_all_meet(b, loop_with(b, 2));
      if (ways > 2) last_[at(b)] = where_all_meet(b, loop_with(b, ways));
    }
    find_avoided();
    for (const AvoidedPlace& place : avoided_) take(place);
    return tell();
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  int loops() const { return static_cast<int>(loops_.all.size()); }
  const Loop& loop(int l) const { return loops_.all[at(l)]; }
  bool holds(int l, int block) const { return l == kWholeFunction || loop(l).holds[at(block)]; }
  const FlowView& view(int l) const { return l == kWholeFunction ? views_.back() : views_[at(l)]; }
  const std::vector<int>& ways_of(int block) const { return block_[at(block)].successors; }

  // The innermost loop around the block in which so many of its ways stay.
  int loop_with(int block, size_t ways) const {
    const std::vector<int>& to = ways_of(block);
    int l = loops_.loop_of[at(block)];
    const auto stay = [&] {
      return static_cast<size_t>(
          std::count_if(to.begin(), to.end(), [&](int t) { return holds(l, t); }));
    };
    while (l != kWholeFunction && stay() < ways) l = loop(l).parent;
    return l;
  }

  // All lanes that stay in that loop, of those that the block's branch parts: rules 1 to 3.
  Place where_all_meet(int block, int own) const {
    const int meet = view(own).post_dominator(block);
    if (own == kWholeFunction) return {meet, own};
    if (meet != kNoBlock && !exits_to_different_loops(block, meet, own)) return {meet, own};
    if (meet == kNoBlock && ways_back(own) > 2) return {loop(own).header, own};
    for (int wider = loop(own).parent;; wider = loop(wider).parent) {
      const int there = view(wider).post_dominator(block);
      const auto serves = [&] {
        return meet != kNoBlock ? !exits_to_different_loops(block, there, wider)
                                : there != loop(own).header && holds(own, there);
      };
      if (there != kNoBlock && serves()) return {there, wider};
      if (wider == kWholeFunction) break;
    }
    if (meet != kNoBlock) return {};
    return {loop(own).header, own};
  }

  size_t ways_back(int l) const {
    const std::vector<int>& before = block_[at(loop(l).header)].predecessors;
    return static_cast<size_t>(
        std::count_if(before.begin(), before.end(), [&](int p) { return holds(l, p); }));
  }

  // Whether lanes on their way from `from` to `to` leave the loop for places in different loops.
  bool exits_to_different_loops(int from, int to, int l) const {
    if (l == kWholeFunction || to == kNoBlock) return false;
    std::set<int> left;
    for_each_escape(from, to, l, [&](int target) { left.insert(outermost_left(l, target)); });
    return left.size() > 1;
  }

  template <class Visit>
  void for_each_escape(int from, int to, int l, Visit visit) const {
    NodeSet between = view(l).blocks_reached_from(from, to);
    between[at(from)] = true;
    for (int b = 0; b < blocks_; ++b) {
      if (!between[at(b)]) continue;
      for (const int t : ways_of(b))
        if (!holds(l, t) && !is_way_out(t)) visit(t);
    }
  }

  int outermost_left(int l, int target) const {
    while (loop(l).parent != kWholeFunction && !holds(loop(l).parent, target)) l = loop(l).parent;
    return l;
  }

  bool is_only_return(int block) const {
    const BasicBlock& b = block_[at(block)];
    return b.may_exit && b.successors.empty() && b.last - b.first == 1;
  }

  // Whether all ways from there leave the function, without meeting others on the way.
  bool is_way_out(int block) const {
    if (!view(kWholeFunction).has_exit_path(block)) return true;  // to a trap, or nowhere
    std::vector<int> work{block};
    while (!work.empty()) {
      const int b = work.back();
      work.pop_back();
      if (is_only_return(b)) continue;
      if (block_[at(b)].predecessors.size() > 1) return false;
      work.insert(work.end(), ways_of(b).begin(), ways_of(b).end());
    }
    return true;
  }

  // The loop in which the block stands for itself: not the one whose header it is.
  int loop_around(int block) const {
    const int l = loops_.loop_of[at(block)];
    return l != kWholeFunction && loop(l).header == block ? loop(l).parent : l;
  }

  bool is_forward(int from, int to) const { return rank_[at(from)] < rank_[at(to)]; }

  // Larger ones first, so that those inside them know where their lanes jump to.
  void find_avoided() {
    std::vector<AvoidedPlace> candidates;
    for (int b = 0; b < blocks_; ++b) {
      const int from = dominator_[at(b)];
      const std::vector<int>& before = block_[at(b)].predecessors;
      const int l = loop_around(b);
      if (from < 0 || loops_.loop_of[at(from)] != l || ways_of(from).size() < 2 ||
          is_only_return(b) || nearest_[at(from)].block == b ||
          std::count_if(before.begin(), before.end(), [&](int p) { return is_forward(p, b); }) < 2)
        continue;
      candidates.push_back({{b, l}, from, {}});
    }
    std::sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const AvoidedPlace& p) {
        return std::make_tuple(p.at.view, rank_[at(p.from)], -rank_[at(p.at.block)]);
      };
      return key(a) < key(b);
    });
    for (AvoidedPlace& place : candidates) {
      // Not where a cycle has two entrances: which of them comes first, nobody knows.
      const NodeSet after = view(place.at.view).blocks_reached_from(place.at.block, kNoBlock);
      const std::vector<int>& before = block_[at(place.at.block)].predecessors;
      if (std::any_of(before.begin(), before.end(),
                      [&](int p) { return is_forward(p, place.at.block) && after[at(p)]; }))
        continue;
      place.inside = view(place.at.view).blocks_reached_from(place.from, place.at.block);
      const NodeSet comes = view(place.at.view).blocks_reaching(place.at.block);
      for (size_t i = 0; i < comes.size(); ++i) place.inside[i] = place.inside[i] && comes[i];
      if (jumps_to_one_level(place) && !splits_inner_reconvergence(place))
        avoided_.push_back(std::move(place));
    }
  }

  // Of the lanes that avoid the place, and of those that avoid the next one around it: whether all
  // go equally far.
  bool jumps_to_one_level(const AvoidedPlace& place) const {
    std::set<Level> levels;
    find_levels(place, levels);
    // Its lanes part on the way to where all of them meet, or to another such place before that.
    const Place& meet = nearest_[at(place.from)];
    const auto around =
        std::find_if(avoided_.rbegin(), avoided_.rend(), [&](const AvoidedPlace& outer) {
          return outer.inside[at(place.at.block)] &&
                 (outer.from == place.from || outer.inside[at(place.from)]) &&
                 (meet.block == kNoBlock || !outer.inside[at(meet.block)]);
        });
    if (around != avoided_.rend())
      find_levels(*around, levels);
    else if (place.at.view != kWholeFunction && meet.block != kNoBlock)
      for_each_escape(place.from, meet.block, place.at.view, [&](int target) {
        levels.insert({outermost_left(place.at.view, target), 0});
      });
    return levels.size() < 2;
  }

  // How far a jump goes: out of which loop, or past how many of the places where lanes meet.
  using Level = std::pair<int, int>;
  void find_levels(const AvoidedPlace& place, std::set<Level>& levels) const {
    const int l = place.at.view, none = loops();
    for (int b = 0; b < blocks_; ++b) {
      if (b != place.from && !place.inside[at(b)]) continue;
      for (const int t : ways_of(b)) {
        if (place.leads_on(t) || is_way_out(t)) continue;
        if (!holds(l, t)) {
          levels.insert({outermost_left(l, t), 0});
        } else if (l != kWholeFunction && t == loop(l).header) {
          levels.insert({none, -1});
        } else {
          const auto past = std::count_if(avoided_.begin(), avoided_.end(), [&](const auto& outer) {
            return outer.inside[at(b)] && !outer.leads_on(t);
          });
          levels.insert({none, static_cast<int>(past)});
        }
      }
    }
  }

  // Whether lanes that meet inside a loop on the way leave it for either side of the place.
  bool splits_inner_reconvergence(const AvoidedPlace& place) const {
    for (int b = 0; b < blocks_; ++b) {
      const Place& meet = nearest_[at(b)];
      if (!place.inside[at(b)] || meet.block == kNoBlock || meet.view == place.at.view ||
          meet.view == kWholeFunction || !place.leads_on(meet.block))
        continue;
      bool before = false, behind = false;
      for_each_escape(b, meet.block, meet.view,
                      [&](int target) { (place.leads_on(target) ? before : behind) = true; });
      if (before && behind) return true;
    }
    return false;
  }

  void take(const AvoidedPlace& place) {
    for (int b = 0; b < blocks_; ++b) {
      if (b != place.from && !place.inside[at(b)]) continue;
      const std::vector<int>& to = ways_of(b);
      const auto lead_on = static_cast<size_t>(
          std::count_if(to.begin(), to.end(), [&](int t) { return place.leads_on(t); }));
      const auto is_nearer = [&](const Place& than) {
        return than.block == kNoBlock || !place.inside[at(than.block)];
      };
      if (lead_on >= 2 && is_nearer(nearest_[at(b)])) nearest_[at(b)] = place.at;
      if (lead_on >= 2 && lead_on == to.size() && is_nearer(last_[at(b)])) last_[at(b)] = place.at;
    }
  }

  ReconvergencePoints tell() const {
    ReconvergencePoints found;
    std::map<Place, int> index;
    const auto number = [&](const Place& place) {
      if (place.block == kNoBlock) return -1;
      const auto [entry, is_new] = index.try_emplace(place, static_cast<int>(index.size()));
      if (is_new) {
        const bool next_round =
            place.view != kWholeFunction && place.block == loop(place.view).header;
        found.reconvergence_points.push_back(
            {place.block,
             next_round ? loop(place.view).holds : view(place.view).blocks_reaching(place.block)});
      }
      return entry->second;
    };
    for (const Place& place : nearest_) found.reconvergence_of.push_back(number(place));
    for (const Place& place : last_) found.full_reconvergence_of.push_back(number(place));
    return found;
  }

  const std::vector<BasicBlock>& block_;
  const int blocks_;
  Loops loops_;
  std::vector<int> dominator_, rank_;  // rank_: a block's is higher than what leads to it forwards
  std::vector<FlowView> views_;        // of each loop, and of the whole function
  std::vector<Place> nearest_,
      last_;  // by block, of its branch: ReconvergencePoints::reconvergence_of
  std::vector<AvoidedPlace> avoided_;
};

}  // namespace

ReconvergencePoints find_reconvergence_points(const std::vector<BasicBlock>& blocks) {
  return Finder(blocks).find();
}

}  // namespace lab32::ptx
