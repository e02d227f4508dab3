// Groups accesses that run together and whose addresses differ by known constants into clusters,
// and solves each neighbours by placement.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "simulator/sass/function_plan.h"

namespace lab32::sass {
// ---------------------------------------------------------------------------------------------
// Placement: an exhaustive search. An instruction accesses at most 16 bytes, so each member has few
// candidates. A candidate is rejected at once if two instructions would access one byte, or if one
// would access a byte of no member.

namespace {

constexpr int64_t kWidest = 16;
constexpr int kMostSteps = 20000;

// Tries all placements of the group's instructions, by backtracking.
class SassAccessPlacementSearch {
 public:
  SassAccessPlacementSearch(const std::vector<UnplacedPtxAccess>& members,
                            const std::vector<KnownDistance>* distances)
      : members_(members), distances_(distances), current_(members.size()) {
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m].shapes.empty()) {
        for (int b = 0; b < members[m].bytes; ++b) {
          char& state = orphan_[members[m].offset + b];
          if (!members[m].live[static_cast<size_t>(b)])
            state = std::max(state, char{1});
          else
            state = std::max(state, members[m].must_be_covered ? char{3} : char{2});
        }
      } else {
        order_.push_back(m);
      }
    }
    std::sort(order_.begin(), order_.end(),
              [&](size_t a, size_t b) { return members[a].offset < members[b].offset; });
  }

  void place_all_members() { place_member(0); }
  int solutions = 0;  // 2: more than one, or too many candidates to try
  std::vector<SassAccessOffsetAndShape> found;

 private:
  void place_member(size_t k) {
    if (solutions > 1) return;
    if (++steps_ > kMostSteps) {
      solutions = 2;
      return;
    }
    if (k == order_.size()) return record_solution();
    const UnplacedPtxAccess& m = members_[order_[k]];
    for (size_t s = 0; s < m.shapes.size(); ++s) {
      for (int64_t at = m.offset - kWidest + 1; at < m.offset + m.bytes; ++at) {
        if (!access_set_fits_at(m, m.shapes[s], at)) continue;
        current_[order_[k]] = {at, static_cast<int>(s)};
        if (distances_ != nullptr && !matches_known_distances(order_[k], k)) continue;
        count_occupied_bytes(m, m.shapes[s], at, 1);
        place_member(k + 1);
        count_occupied_bytes(m, m.shapes[s], at, -1);
      }
    }
  }

  // Whether the instructions of `shape` fit at offset `at`. Every byte that they access must belong
  // to this member, or to a member without instructions and to no other instruction. No part may
  // consist of dead bytes only, and all live bytes of the member must be accessed.
  bool access_set_fits_at(const UnplacedPtxAccess& m, const SassAccessRanges& shape,
                          int64_t at) const {
    std::vector<bool> own(static_cast<size_t>(m.bytes), false);
    for (const SassAccessRange& part : shape) {
      bool useful = false;
      for (int64_t b = at + part.at; b < at + part.at + part.bytes; ++b) {
        if (b >= m.offset && b < m.offset + m.bytes) {
          own[static_cast<size_t>(b - m.offset)] = true;
          useful |= m.live[static_cast<size_t>(b - m.offset)];
          continue;
        }
        auto orphan = orphan_.find(b);
        if (orphan == orphan_.end()) return false;
        auto taken = taken_.find(b);
        if (taken != taken_.end() && taken->second > 0) return false;
        useful |= orphan->second > 1;
      }
      if (!useful) return false;
    }
    for (size_t b = 0; b < own.size(); ++b) {
      if (m.live[b] && !own[b]) return false;
    }
    return true;
  }

  void count_occupied_bytes(const UnplacedPtxAccess& m, const SassAccessRanges& shape, int64_t at,
                            int by) {
    for (const SassAccessRange& part : shape) {
      for (int64_t b = at + part.at; b < at + part.at + part.bytes; ++b) {
        if (b < m.offset || b >= m.offset + m.bytes) taken_[b] += by;
      }
    }
  }

  bool matches_known_distances(size_t member, size_t placed_count) const {
    for (const KnownDistance& d : *distances_) {
      const auto i = static_cast<size_t>(d.i), j = static_cast<size_t>(d.j);
      if (i != member && j != member) continue;
      const size_t other = i == member ? j : i;
      if (std::find(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(placed_count),
                    other) == order_.begin() + static_cast<std::ptrdiff_t>(placed_count))
        continue;
      if (current_[j].at - current_[i].at != d.bytes) return false;
    }
    return true;
  }

  void record_solution() {
    for (const auto& [byte, state] : orphan_) {
      if (state < 3) continue;
      auto taken = taken_.find(byte);
      if (taken == taken_.end() || taken->second == 0) return;
    }
    ++solutions;
    found = current_;
  }

  const std::vector<UnplacedPtxAccess>& members_;
  const std::vector<KnownDistance>* distances_;
  std::vector<size_t> order_;
  std::vector<SassAccessOffsetAndShape> current_;
  // The bytes of members without instructions. 1: dead; 2: live, and another reason explains why no
  // instruction accesses it; 3: live.
  std::map<int64_t, char> orphan_;
  std::map<int64_t, int> taken_;
  int steps_ = 0;
};

}  // namespace

std::optional<std::vector<SassAccessOffsetAndShape>> find_sass_offsets_and_shapes(
    const std::vector<UnplacedPtxAccess>& members, const std::vector<KnownDistance>& distances) {
  for (const std::vector<KnownDistance>* use :
       {static_cast<const std::vector<KnownDistance>*>(nullptr), &distances}) {
    SassAccessPlacementSearch search(members, use);
    search.place_all_members();
    if (search.solutions == 1) return search.found;
    if (search.solutions == 0) return std::nullopt;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------

namespace {

using sim::AccessKind;
using sim::SassAccessOfPtxInstruction;

class SassAccessPlanner {
 public:
  explicit SassAccessPlanner(SassAccessPlanningState& draft) : d_(draft) {}

  void plan_mergeable_loads_and_stores() {
    using Key = std::tuple<int, MemorySpace, AccessKind, AddressBase, int, bool>;
    std::map<Key, std::vector<size_t>> groups;
    for (size_t i = 0; i < d_.accesses.size(); ++i) {
      const PtxAccess& a = d_.accesses[i];
      if (!is_plain(a) || d_.states[i].failed) continue;
      groups[{a.block, a.space, a.kind, a.root, a.guard, a.guard_negated}].push_back(i);
    }
    for (auto& [key, members] : groups) {
      std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
        return d_.accesses[a].offset < d_.accesses[b].offset;
      });
      // No instruction accesses more than 16 bytes, so accesses that are further apart are in
      // separate clusters.
      for (size_t from = 0; from < members.size();) {
        size_t to = from + 1;
        int64_t end = d_.accesses[members[from]].offset + d_.accesses[members[from]].bytes;
        while (to < members.size() && d_.accesses[members[to]].offset < end + 16) {
          end = std::max(end, d_.accesses[members[to]].offset + d_.accesses[members[to]].bytes);
          ++to;
        }
        plan_neighbouring_accesses({members.begin() + static_cast<std::ptrdiff_t>(from),
                                    members.begin() + static_cast<std::ptrdiff_t>(to)});
        from = to;
      }
    }
  }

 private:
  bool has_width_of_ptx(size_t i) const {
    const auto& own = d_.states[i].own;
    return !own.empty() && std::all_of(own.begin(), own.end(), [&](const SassInstructionSite& s) {
      return s.op->bytes == d_.accesses[i].bytes;
    });
  }

  void plan_neighbouring_accesses(const std::vector<size_t>& neighbours) {
    bool simple = true;
    for (size_t i : neighbours)
      simple &= has_width_of_ptx(i) || (d_.states[i].own.empty() && is_explained(i));
    if (simple) {
      for (size_t i : neighbours) {
        d_.states[i].copies = static_cast<int>(d_.states[i].own.size());
        if (!d_.states[i].own.empty())
          d_.issue_as_written(i);
        else
          explain_or_mark_missing(i);
      }
      return;
    }
    std::vector<UnplacedPtxAccess> members;
    for (size_t i : neighbours) {
      const PtxAccess& a = d_.accesses[i];
      UnplacedPtxAccess m;
      m.offset = a.offset;
      m.bytes = a.bytes;
      for (bool live : a.live)
        m.live.insert(m.live.end(), static_cast<size_t>(a.element_bytes), live);
      m.shapes = possible_sass_access_ranges(i);
      m.must_be_covered = !is_explained(i);
      if (!d_.states[i].own.empty() && m.shapes.empty())
        return mark_neighbours_unmatched(neighbours,
                                         SassAccessPlanningState::Reason::copies_differ);
      members.push_back(std::move(m));
    }
    const auto placements = find_sass_offsets_and_shapes(members, known_distances(neighbours));
    if (!placements)
      return mark_neighbours_unmatched(neighbours,
                                       SassAccessPlanningState::Reason::no_single_grouping);
    for (size_t k = 0; k < neighbours.size(); ++k)
      plan_placed_access(neighbours, members, *placements, k);
  }

  void mark_neighbours_unmatched(const std::vector<size_t>& neighbours,
                                 SassAccessPlanningState::Reason reason) {
    std::string seen;
    uint32_t count = 0;
    for (size_t i : neighbours) {
      for (const SassInstructionSite& s : d_.states[i].own) {
        if (++count > 4) continue;
        seen += (seen.empty() ? "" : ", ") + s.instruction->opcode;
      }
    }
    if (count > 4) seen += " …";
    for (size_t i : neighbours) {
      if (d_.states[i].own.empty() && !is_explained(i)) d_.states[i].missing = true;
      sim::AccessWithoutSassMatch why;
      why.reason = reason;
      why.in_ptx = static_cast<uint32_t>(neighbours.size());
      why.in_machine_code = count;
      why.seen = seen;
      d_.fail(i, std::move(why));
    }
  }

  void plan_placed_access(const std::vector<size_t>& neighbours,
                          const std::vector<UnplacedPtxAccess>& members,
                          const std::vector<SassAccessOffsetAndShape>& placements, size_t k) {
    const size_t i = neighbours[k];
    const PtxAccess& a = d_.accesses[i];
    const SassAccessOffsetAndShape& p = placements[k];
    if (p.shape >= 0) {
      const SassAccessRanges& shape = members[k].shapes[static_cast<size_t>(p.shape)];
      d_.states[i].copies = static_cast<int>(d_.states[i].own.size() / shape.size());
      for (const SassAccessRange& part : shape) {
        SassAccessOfPtxInstruction issue;
        issue.offset = static_cast<int32_t>(p.at + part.at - a.offset);
        issue.bytes = static_cast<uint8_t>(part.bytes);
        issue.kind = a.kind;
        d_.plan(i).issues.push_back(issue);
      }
      if (shape.size() > 1)
        d_.plan(i).note = "split into " + std::to_string(shape.size());
      else if (shape[0].bytes != a.bytes || p.at != a.offset)
        d_.plan(i).note = "issued as " + d_.states[i].own[0].instruction->opcode;
      return;
    }
    // Finds the member whose instruction covers this access.
    for (size_t j = 0; j < neighbours.size(); ++j) {
      if (placements[j].shape < 0) continue;
      const SassAccessRanges& shape = members[j].shapes[static_cast<size_t>(placements[j].shape)];
      for (const SassAccessRange& part : shape) {
        const int64_t at = placements[j].at + part.at;
        if (a.offset + a.bytes <= at || at + part.bytes <= a.offset) continue;
        d_.plan(i).note = "merged into the " + d_.states[neighbours[j]].own[0].instruction->opcode +
                          " of " + d_.access_line_label(neighbours[j]);
        return;
      }
    }
    explain_or_mark_missing(i);
  }

  // The instructions that one execution of the access may consist of: its instructions, divided
  // into equal copies.
  std::vector<SassAccessRanges> possible_sass_access_ranges(size_t i) const {
    std::map<decltype(std::declval<SassInstructionSite>().address_group()),
             std::vector<SassAccessRange>>
        cells;
    for (const SassInstructionSite& s : d_.states[i].own)
      cells[s.address_group()].push_back({s.op->offset, s.op->bytes});
    std::vector<SassAccessRanges> found;
    for (size_t size = 1; size <= 4; ++size) {
      SassAccessRanges shape;
      bool equal = !cells.empty();
      for (auto& [cell, parts] : cells) {
        std::sort(parts.begin(), parts.end(),
                  [](const SassAccessRange& a, const SassAccessRange& b) { return a.at < b.at; });
        equal &= parts.size() % size == 0;
        for (size_t from = 0; equal && from < parts.size(); from += size) {
          SassAccessRanges one(parts.begin() + static_cast<std::ptrdiff_t>(from),
                               parts.begin() + static_cast<std::ptrdiff_t>(from + size));
          const int64_t start = one[0].at;
          for (SassAccessRange& p : one) p.at -= start;
          for (size_t p = 1; p < size; ++p) equal &= one[p].at >= one[p - 1].at + one[p - 1].bytes;
          if (shape.empty()) shape = one;
          equal &= shape == one;
        }
      }
      if (equal) found.push_back(std::move(shape));
    }
    return found;
  }

  // The distances between accesses that follow from the constants in the machine code's addresses:
  // two instructions with the same base register are as far apart as their constants.
  std::vector<KnownDistance> known_distances(const std::vector<size_t>& neighbours) const {
    std::vector<KnownDistance> found;
    for (size_t i = 0; i < neighbours.size(); ++i) {
      for (size_t j = 0; j < neighbours.size(); ++j) {
        const auto& a = d_.states[neighbours[i]].own;
        const auto& b = d_.states[neighbours[j]].own;
        if (i == j || a.empty() || a.size() != b.size()) continue;
        std::set<int64_t> bytes;
        for (size_t k = 0; k < a.size(); ++k)
          bytes.insert(a[k].address_group() == b[k].address_group()
                           ? b[k].op->offset - a[k].op->offset
                           : INT64_MAX);
        if (bytes.size() == 1 && *bytes.begin() != INT64_MAX)
          found.push_back({static_cast<int>(i), static_cast<int>(j), *bytes.begin()});
      }
    }
    return found;
  }

  // --- why an access may have no instruction ----------------------------------------------------

  bool is_explained(size_t i) const { return !explain_missing_access(i).empty(); }
  void explain_or_mark_missing(size_t i) {
    const std::string reason = explain_missing_access(i);
    if (!reason.empty()) {
      d_.plan(i).note = reason;
      return;
    }
    d_.states[i].missing = true;
    d_.fail(i, SassAccessPlanningState::Reason::no_instruction);
  }

  std::string explain_missing_access(size_t i) const {
    const PtxAccess& a = d_.accesses[i];
    if (!is_plain(a)) return {};
    if (a.space == MemorySpace::local) return "kept in registers";
    if (a.kind == AccessKind::load && !a.any_live()) return "removed: its result is not used";
    for (size_t j = 0; j < d_.accesses.size(); ++j) {
      const PtxAccess& b = d_.accesses[j];
      if (j == i || !is_plain(b) || b.space != a.space || !(b.root == a.root) ||
          b.offset > a.offset || b.offset + b.bytes < a.offset + a.bytes)
        continue;
      const bool same_guard =
          b.guard < 0 || (b.guard == a.guard && b.guard_negated == a.guard_negated);
      if (!same_guard || (d_.states[j].own.empty() && j > i)) continue;
      if (a.kind == AccessKind::load) {
        const bool before = b.block == a.block
                                ? b.index < a.index || b.kind == AccessKind::load
                                : d_.function.structure().dominates(b.block, a.block);
        if (before) return "removed: " + d_.access_line_label(j) + " has the value already";
      } else if (b.kind == AccessKind::store && b.block == a.block && b.index > a.index) {
        return "removed: " + d_.access_line_label(j) + " overwrites it";
      }
    }
    return {};
  }

  SassAccessPlanningState& d_;
};

}  // namespace

void group_accesses(SassAccessPlanningState& draft) {
  SassAccessPlanner(draft).plan_mergeable_loads_and_stores();
}

}  // namespace lab32::sass
