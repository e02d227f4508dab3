// What the model of the caches remembers of a block: its accesses to global memory, warp by warp,
// as the lines and sectors that L1 looks up; and the order in which a multiprocessor's warps ask
// for them when they are replayed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/caches/l2.h"

namespace lab32::counters {

// What the caches do with an instruction, by site.
struct CacheUse {
  bool skips_l1 = false;  // .cg, .cv, volatile, and what is ordered beyond the block
  bool on_float = false;  // atomics
  uint8_t group = 0;      // below kLoadGroups: whose hits its own are counted with
};

// What loads of some instructions found.
constexpr size_t kLoadGroups = 32;
struct LoadGroup {
  uint64_t asked = 0, hits = 0;  // sectors, in L1
  // Accesses; those that wait for L2, because one of their sectors has missed or is still to come;
  // and of these, for device memory.
  uint64_t accesses = 0, waiting = 0, late = 0;
  uint64_t first = 0, first_waiting = 0, first_late = 0;  // each warp's first ones among these
  uint64_t cycles = 0;                                    // that L1 is busy with them
};

// One line of one access.
struct LineAccess {
  uint64_t line : 48;
  uint64_t sectors : 4;
  uint64_t kind : 2;  // sim::AccessKind
  uint64_t skips_l1 : 1;
  uint64_t on_float : 1;
  uint64_t last : 1;    // of its access
  uint64_t alone : 1;   // the only line of its access
  uint64_t engine : 1;  // the copy engine's: L1 knows nothing of it
  uint64_t group : 5;   // CacheUse::group
  // Stores: bytes of each sector that are written. Atomics: the most lanes on one word of it.
  SectorBytes amount;
};

struct RecordedBlock {
  uint64_t index = 0;
  std::vector<std::vector<LineAccess>> warps;
  uint64_t lines = 0;  // recorded
  uint64_t l1_store_cycles = 0;
  std::array<uint64_t, kLoadGroups> l1_load_cycles{};
  uint64_t dropped = 0;  // lines beyond the block's share
};

// Cycles that an access keeps L1 busy, given its lines. Loads are served from 32 banks, as shared
// memory is, and looked up in four parts of the tags, a line a cycle each; four sectors that have
// missed are written a cycle (replay adds it). Stores leave L1 a sector a cycle, and each further
// line costs one more. (Fitted to l1tex__throughput of row_sums, gather, fill_walk_quad and
// turn_plain in data/measured/h200-model-counters.csv.)
uint64_t busy_cycles(const sim::Access& access, const LineAccess* lines, uint64_t count);

// Appends the lines of a request through a texture or surface object, whose stores are taken to
// fill their sectors; or of a run of bytes that the copy engine moves.
void append_sectors(const uint64_t* first, const uint64_t* end, bool stores,
                    std::vector<LineAccess>& to);
void append_run(uint64_t begin, uint32_t bytes, bool stores, std::vector<LineAccess>& to);

// Appends the lines of an access, in the order of the lanes.
void append_lines(const sim::Access& access, bool skips_l1, bool on_float,
                  std::vector<LineAccess>& to, uint8_t group = 0);

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
