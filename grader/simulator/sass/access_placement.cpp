// Exhaustive search. An instruction accesses at most 16 bytes, so each member has few candidates. A
// candidate is rejected at once if two instructions would access one byte, or if one would access a
// byte of no member.
#include "simulator/sass/access_placement.h"

#include <algorithm>
#include <map>

namespace lab32::sass {
namespace {

constexpr int64_t kWidest = 16;
constexpr int kMostSteps = 20000;

// Tries all placements of the group's instructions, by backtracking.
class PlacementSearch {
 public:
  PlacementSearch(const std::vector<PlacedAccess>& members, const std::vector<Distance>* distances)
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

  void run() { place_next(0); }
  int solutions = 0;  // 2: more than one, or too many candidates to try
  std::vector<Placement> found;

 private:
  void place_next(size_t k) {
    if (solutions > 1) return;
    if (++steps_ > kMostSteps) {
      solutions = 2;
      return;
    }
    if (k == order_.size()) return finish();
    const PlacedAccess& m = members_[order_[k]];
    for (size_t s = 0; s < m.shapes.size(); ++s) {
      for (int64_t at = m.offset - kWidest + 1; at < m.offset + m.bytes; ++at) {
        if (!fits(m, m.shapes[s], at)) continue;
        current_[order_[k]] = {at, static_cast<int>(s)};
        if (distances_ != nullptr && !keeps_distances(order_[k], k)) continue;
        occupy_bytes(m, m.shapes[s], at, 1);
        place_next(k + 1);
        occupy_bytes(m, m.shapes[s], at, -1);
      }
    }
  }

  // Every accessed byte belongs to this member, or to a member without instructions and to no other
  // instruction; no part consists of dead bytes only; and all live bytes of the member are
  // accessed.
  bool fits(const PlacedAccess& m, const Shape& shape, int64_t at) const {
    std::vector<bool> own(static_cast<size_t>(m.bytes), false);
    for (const MachineAccess& part : shape) {
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

  void occupy_bytes(const PlacedAccess& m, const Shape& shape, int64_t at, int by) {
    for (const MachineAccess& part : shape) {
      for (int64_t b = at + part.at; b < at + part.at + part.bytes; ++b) {
        if (b < m.offset || b >= m.offset + m.bytes) taken_[b] += by;
      }
    }
  }

  bool keeps_distances(size_t member, size_t k) const {
    for (const Distance& d : *distances_) {
      const auto i = static_cast<size_t>(d.i), j = static_cast<size_t>(d.j);
      if (i != member && j != member) continue;
      const size_t other = i == member ? j : i;
      if (std::find(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(k), other) ==
          order_.begin() + static_cast<std::ptrdiff_t>(k))
        continue;
      if (current_[j].at - current_[i].at != d.bytes) return false;
    }
    return true;
  }

  void finish() {
    for (const auto& [byte, state] : orphan_) {
      if (state < 3) continue;
      auto taken = taken_.find(byte);
      if (taken == taken_.end() || taken->second == 0) return;
    }
    ++solutions;
    found = current_;
  }

  const std::vector<PlacedAccess>& members_;
  const std::vector<Distance>* distances_;
  std::vector<size_t> order_;
  std::vector<Placement> current_;
  // Bytes of members without instructions: 1 dead, 2 live but explained otherwise, 3 live.
  std::map<int64_t, char> orphan_;
  std::map<int64_t, int> taken_;
  int steps_ = 0;
};

}  // namespace

std::optional<std::vector<Placement>> place(const std::vector<PlacedAccess>& members,
                                            const std::vector<Distance>& distances) {
  for (const std::vector<Distance>* use :
       {static_cast<const std::vector<Distance>*>(nullptr), &distances}) {
    PlacementSearch search(members, use);
    search.run();
    if (search.solutions == 1) return search.found;
    if (search.solutions == 0) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace lab32::sass
