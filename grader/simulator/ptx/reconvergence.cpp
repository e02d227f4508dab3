// Finds where diverged lanes reconverge by rules that reproduce ptxas: they were derived from its
// machine code (BSSY, BREAK and BSYNC; grader/tools/measure/divergence has the shapes that were
// tried, and the counts of an H200).
//
// 1. Lanes reconverge at the immediate post-dominator, computed inside the innermost loop that
//    contains at least two successors of the branch. Lanes that leave this loop are not waited for:
//    in `for (…) { if (a) { …; if (b) break; } }` the others reconverge behind the `if`.
// 2. If some lanes leave that loop and some also an enclosing loop, the lanes reconverge only
//    behind the loop.
// 3. If lanes diverge and do not reconverge before the next iteration, they may do so in a later
//    one. In `while (true) { if (a) continue; x; if (b) break; }` that is at x, as if the lanes
//    that continue ran a loop of their own. With three or more back edges ptxas merges them, and
//    lanes do not reconverge.
// 4. Lanes also reconverge at a point that some of them avoid: in `if (a) { …; if (b) return; } x;`
//    at x. They do not if the lanes that avoid it jump to different targets behind it.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "simulator/ptx/control_flow.h"
#include "simulator/ptx/graph.h"

namespace lab32::ptx {
namespace {

struct MergePoint {
  int block = kNoBlock;
  int view = kWholeFunction;  // the view (ControlFlowView) in which the point was found
  bool operator<(const MergePoint& other) const {
    return std::tie(block, view) < std::tie(other.block, other.view);
  }
};

// A reconvergence point that some lanes avoid. The lanes diverge at block `from`; those that reach
// the point pass through the blocks in `inside`.
struct MergePointWithBypassingPath {
  MergePoint at;
  int from;
  NodeSet inside;
  bool leads_to_point(int block) const {  // whether the block is on a path to the point
    return block == at.block || inside[static_cast<size_t>(block)];
  }
};

class ReconvergenceFinder {
 public:
  explicit ReconvergenceFinder(const std::vector<BasicBlock>& blocks)
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

  ReconvergencePoints find_points() {
    nearest_.resize(block_.size());
    full_.resize(block_.size());
    for (int b = 0; b < blocks_; ++b) {
      const size_t ways = successors_of(b).size();
      if (ways < 2) continue;
      nearest_[at(b)] = full_[at(b)] =
          reconvergence_in_loop(b, innermost_loop_holding_successors(b, 2));
      if (ways > 2)
        full_[at(b)] = reconvergence_in_loop(b, innermost_loop_holding_successors(b, ways));
    }
    find_bypassed_reconvergence_points();
    for (const MergePointWithBypassingPath& place : bypassed_) apply_bypassed_point(place);
    return deduplicated_reconvergence_points();
  }

 private:
  static size_t at(int i) { return static_cast<size_t>(i); }
  int loops() const { return static_cast<int>(loops_.all.size()); }
  const Loop& loop(int l) const { return loops_.all[at(l)]; }
  bool holds(int l, int block) const { return l == kWholeFunction || loop(l).holds[at(block)]; }
  const ControlFlowView& view(int l) const {
    return l == kWholeFunction ? views_.back() : views_[at(l)];
  }
  const std::vector<int>& successors_of(int block) const { return block_[at(block)].successors; }

  // The innermost loop around the block that contains at least `ways` of its successors.
  int innermost_loop_holding_successors(int block, size_t min_successors) const {
    const std::vector<int>& to = successors_of(block);
    int l = loops_.loop_of[at(block)];
    const auto stay = [&] {
      return static_cast<size_t>(
          std::count_if(to.begin(), to.end(), [&](int t) { return holds(l, t); }));
    };
    while (l != kWholeFunction && stay() < min_successors) l = loop(l).parent;
    return l;
  }

  // The point at which all lanes that stay in loop `own` reconverge after the branch of `block`, by
  // rules 1 to 3.
  MergePoint reconvergence_in_loop(int block, int own_loop) const {
    const int meet = view(own_loop).post_dominator(block);
    if (own_loop == kWholeFunction) return {meet, own_loop};
    if (meet != kNoBlock && !exits_to_different_loops(block, meet, own_loop))
      return {meet, own_loop};
    if (meet == kNoBlock && back_edge_count(own_loop) > 2) return {loop(own_loop).header, own_loop};
    for (int wider = loop(own_loop).parent;; wider = loop(wider).parent) {
      const int there = view(wider).post_dominator(block);
      const auto serves = [&] {
        return meet != kNoBlock ? !exits_to_different_loops(block, there, wider)
                                : there != loop(own_loop).header && holds(own_loop, there);
      };
      if (there != kNoBlock && serves()) return {there, wider};
      if (wider == kWholeFunction) break;
    }
    if (meet != kNoBlock) return {};
    return {loop(own_loop).header, own_loop};
  }

  size_t back_edge_count(int l) const {
    const std::vector<int>& before = block_[at(loop(l).header)].predecessors;
    return static_cast<size_t>(
        std::count_if(before.begin(), before.end(), [&](int p) { return holds(l, p); }));
  }

  // Whether lanes on a path from `from` to `to` leave the loop for targets in different loops.
  bool exits_to_different_loops(int from, int to, int l) const {
    if (l == kWholeFunction || to == kNoBlock) return false;
    std::set<int> left;
    for_each_loop_exit_on_paths(from, to, l,
                                [&](int target) { left.insert(outermost_exited_loop(l, target)); });
    return left.size() > 1;
  }

  template <class Visit>
  void for_each_loop_exit_on_paths(int from, int to, int l, Visit visit) const {
    NodeSet between = view(l).blocks_reached_from(from, to);
    between[at(from)] = true;
    for (int b = 0; b < blocks_; ++b) {
      if (!between[at(b)]) continue;
      for (const int t : successors_of(b))
        if (!holds(l, t) && !has_only_unmerged_exit_paths(t)) visit(t);
    }
  }

  int outermost_exited_loop(int l, int target) const {
    while (loop(l).parent != kWholeFunction && !holds(loop(l).parent, target)) l = loop(l).parent;
    return l;
  }

  bool is_only_return(int block) const {
    const BasicBlock& b = block_[at(block)];
    return b.may_exit && b.successors.empty() && b.last - b.first == 1;
  }

  // Whether all paths from the block leave the function without joining other paths.
  bool has_only_unmerged_exit_paths(int block) const {
    // All paths from the block end in a trap, or never end.
    if (!view(kWholeFunction).has_exit_path(block)) return true;
    std::vector<int> work{block};
    while (!work.empty()) {
      const int b = work.back();
      work.pop_back();
      if (is_only_return(b)) continue;
      if (block_[at(b)].predecessors.size() > 1) return false;
      work.insert(work.end(), successors_of(b).begin(), successors_of(b).end());
    }
    return true;
  }

  // The innermost loop around the block, except the loop whose header it is.
  int innermost_loop_not_headed_by(int block) const {
    const int l = loops_.loop_of[at(block)];
    return l != kWholeFunction && loop(l).header == block ? loop(l).parent : l;
  }

  bool is_forward(int from, int to) const { return rank_[at(from)] < rank_[at(to)]; }

  // Finds the points of rule 4. Larger regions come first, since the inner ones need to know where
  // the lanes of the outer ones jump to.
  void find_bypassed_reconvergence_points() {
    std::vector<MergePointWithBypassingPath> candidates;
    for (int b = 0; b < blocks_; ++b) {
      const int from = dominator_[at(b)];
      const std::vector<int>& before = block_[at(b)].predecessors;
      const int l = innermost_loop_not_headed_by(b);
      if (from < 0 || loops_.loop_of[at(from)] != l || successors_of(from).size() < 2 ||
          is_only_return(b) || nearest_[at(from)].block == b ||
          std::count_if(before.begin(), before.end(), [&](int p) { return is_forward(p, b); }) < 2)
        continue;
      candidates.push_back({{b, l}, from, {}});
    }
    std::sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
      const auto key = [&](const MergePointWithBypassingPath& p) {
        return std::make_tuple(p.at.view, rank_[at(p.from)], -rank_[at(p.at.block)]);
      };
      return key(a) < key(b);
    });
    for (MergePointWithBypassingPath& place : candidates) {
      // An irreducible cycle has two entries, and it is not known which one is reached first.
      const NodeSet after = view(place.at.view).blocks_reached_from(place.at.block, kNoBlock);
      const std::vector<int>& before = block_[at(place.at.block)].predecessors;
      if (std::any_of(before.begin(), before.end(),
                      [&](int p) { return is_forward(p, place.at.block) && after[at(p)]; }))
        continue;
      place.inside = view(place.at.view).blocks_reached_from(place.from, place.at.block);
      const NodeSet comes = view(place.at.view).blocks_reaching(place.at.block);
      for (size_t i = 0; i < comes.size(); ++i) place.inside[i] = place.inside[i] && comes[i];
      if (all_jumps_equally_far(place) && !is_between_inner_loop_exits(place))
        bypassed_.push_back(std::move(place));
    }
  }

  // Whether all lanes that avoid this point, and those that avoid the next point around it, jump
  // equally far.
  bool all_jumps_equally_far(const MergePointWithBypassingPath& place) const {
    std::set<LoopExitedOrPointsSkipped> distances;
    collect_loop_exits_and_skips(place, distances);
    // The lanes that diverge at `from` reconverge at the point at which all of them do, or before
    // that at another avoided point.
    const MergePoint& meet = nearest_[at(place.from)];
    const auto around = std::find_if(
        bypassed_.rbegin(), bypassed_.rend(), [&](const MergePointWithBypassingPath& outer) {
          return outer.inside[at(place.at.block)] &&
                 (outer.from == place.from || outer.inside[at(place.from)]) &&
                 (meet.block == kNoBlock || !outer.inside[at(meet.block)]);
        });
    if (around != bypassed_.rend())
      collect_loop_exits_and_skips(*around, distances);
    else if (place.at.view != kWholeFunction && meet.block != kNoBlock)
      for_each_loop_exit_on_paths(place.from, meet.block, place.at.view, [&](int target) {
        distances.insert({outermost_exited_loop(place.at.view, target), 0});
      });
    return distances.size() < 2;
  }

  // How far a jump goes: the outermost loop that it leaves, or the number of avoided points that it
  // passes.
  using LoopExitedOrPointsSkipped = std::pair<int, int>;
  void collect_loop_exits_and_skips(const MergePointWithBypassingPath& place,
                                    std::set<LoopExitedOrPointsSkipped>& distances) const {
    const int l = place.at.view, none = loops();
    for (int b = 0; b < blocks_; ++b) {
      if (b != place.from && !place.inside[at(b)]) continue;
      for (const int t : successors_of(b)) {
        if (place.leads_to_point(t) || has_only_unmerged_exit_paths(t)) continue;
        if (!holds(l, t)) {
          distances.insert({outermost_exited_loop(l, t), 0});
        } else if (l != kWholeFunction && t == loop(l).header) {
          distances.insert({none, -1});
        } else {
          const auto past = std::count_if(
              bypassed_.begin(), bypassed_.end(),
              [&](const auto& outer) { return outer.inside[at(b)] && !outer.leads_to_point(t); });
          distances.insert({none, static_cast<int>(past)});
        }
      }
    }
  }

  // Whether lanes that reconverge inside an inner loop leave it for targets both before and behind
  // this point.
  bool is_between_inner_loop_exits(const MergePointWithBypassingPath& place) const {
    for (int b = 0; b < blocks_; ++b) {
      const MergePoint& meet = nearest_[at(b)];
      if (!place.inside[at(b)] || meet.block == kNoBlock || meet.view == place.at.view ||
          meet.view == kWholeFunction || !place.leads_to_point(meet.block))
        continue;
      bool before = false, behind = false;
      for_each_loop_exit_on_paths(b, meet.block, meet.view, [&](int target) {
        (place.leads_to_point(target) ? before : behind) = true;
      });
      if (before && behind) return true;
    }
    return false;
  }

  void apply_bypassed_point(const MergePointWithBypassingPath& place) {
    for (int b = 0; b < blocks_; ++b) {
      if (b != place.from && !place.inside[at(b)]) continue;
      const std::vector<int>& to = successors_of(b);
      const auto lead_on = static_cast<size_t>(
          std::count_if(to.begin(), to.end(), [&](int t) { return place.leads_to_point(t); }));
      const auto is_nearer = [&](const MergePoint& than) {
        return than.block == kNoBlock || !place.inside[at(than.block)];
      };
      if (lead_on >= 2 && is_nearer(nearest_[at(b)])) nearest_[at(b)] = place.at;
      if (lead_on >= 2 && lead_on == to.size() && is_nearer(full_[at(b)])) full_[at(b)] = place.at;
    }
  }

  ReconvergencePoints deduplicated_reconvergence_points() const {
    ReconvergencePoints found;
    std::map<MergePoint, int> index;
    const auto number = [&](const MergePoint& place) {
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
    for (const MergePoint& place : nearest_) found.reconvergence_of.push_back(number(place));
    for (const MergePoint& place : full_) found.full_reconvergence_of.push_back(number(place));
    return found;
  }

  const std::vector<BasicBlock>& block_;
  const int blocks_;
  Loops loops_;
  // rank_: a block has a higher rank than its predecessors along forward edges
  std::vector<int> dominator_, rank_;
  std::vector<ControlFlowView> views_;  // one per loop, then one of the whole function
  std::vector<MergePoint> nearest_,
      full_;  // for each block: for reconvergence_of and full_reconvergence_of
  std::vector<MergePointWithBypassingPath> bypassed_;
};

}  // namespace

ReconvergencePoints find_reconvergence_points(const std::vector<BasicBlock>& blocks) {
  return ReconvergenceFinder(blocks).find_points();
}

}  // namespace lab32::ptx
