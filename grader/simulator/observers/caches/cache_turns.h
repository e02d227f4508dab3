// In which order the warps of a multiprocessor ask for what they were recorded to ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/caches/cache_record.h"

namespace lab32::counters {

// The warps of one multiprocessor that have accesses left, each with its place.
class Turns {
 public:
  void add(const std::vector<LineAccess>& accesses) {
    if (!accesses.empty())
      warps_.push_back({accesses.data(), accesses.data() + accesses.size(), 0});
  }
  bool done() const { return warps_.empty(); }
  // The line that is looked up next.
  const LineAccess& next() const { return *warps_[turn_ < warps_.size() ? turn_ : 0].at; }

  // The next warp's next access, and the stores right behind a store, for which a warp does not
  // wait: calls look_up(line, warps, first) for each line. While each of `warps` has a turn, what a
  // warp asks for now is on its way. `first`: whether it is the warp's first one of its group.
  // Before it, of an access of several lines, look_ahead(next, end): what the warp has left.
  template <class LookAhead, class LookUp>
  void issue(LookAhead look_ahead, LookUp look_up) {
    if (turn_ >= warps_.size()) turn_ = 0;
    auto& [at, end, seen] = warps_[turn_];
    const auto stores = [](const LineAccess& line) {
      return line.kind == uint64_t(sim::AccessKind::store);
    };
    for (bool goes_on = at != end; goes_on;) {
      const LineAccess& line = *at++;
      if (line.last == 0) look_ahead(at, end);
      look_up(line, warps_.size(), (seen >> line.group & 1) == 0);
      if (line.last) seen |= uint32_t{1} << line.group;
      goes_on = at != end && (line.last == 0 || (stores(line) && stores(*at)));
    }
    if (at != end) {
      ++turn_;
    } else {
      warps_.erase(warps_.begin() + static_cast<std::ptrdiff_t>(turn_));
    }
  }

 private:
  struct Left {
    const LineAccess *at, *end;
    uint32_t seen;  // groups that have had an access
  };
  std::vector<Left> warps_;
  size_t turn_ = 0;
};

}  // namespace lab32::counters
