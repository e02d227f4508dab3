// The accesses of a block to global memory, warp by warp, as the lines and sectors that L1 looks
// up, and the order in which the warps of a multiprocessor issue them in the replay
// (RoundRobinAccessReplay).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/caches/l2.h"

namespace lab32::counters {

// How the caches treat an instruction. CacheReplayObserver gets one for each site of the program.
struct CacheTreatmentOfInstruction {
  bool skips_l1 = false;  // set for .cg, .cv, volatile, and accesses with a scope beyond the block
  bool on_float = false;  // atomics: the operand is a float
  uint8_t group = 0;      // below kLoadGroups: the LoadGroupCacheCounts that counts its loads
};

// Results of the loads of a group of instructions. Instructions are dealt to the groups by number.
constexpr size_t kLoadGroups = 32;
struct LoadGroupCacheCounts {
  uint64_t asked = 0, hits = 0;  // sectors, in L1
  // Counts of accesses: all; those that wait for L2, because a sector has missed or has not yet
  // arrived; and, among these, those that wait for device memory.
  uint64_t accesses = 0, waits_for_l2 = 0, waits_for_dram = 0;
  // The three counts above, restricted to the first access of each warp.
  uint64_t first = 0, first_waits_for_l2 = 0, first_waits_for_dram = 0;
  uint64_t cycles = 0;  // cycles for which the accesses keep L1 busy
};

// One line of one access.
struct CacheLineAccess {
  uint64_t line : 48;
  uint64_t sectors : 4;
  uint64_t kind : 2;  // sim::AccessKind
  uint64_t skips_l1 : 1;
  uint64_t on_float : 1;
  uint64_t last : 1;    // whether this is the last line of its access
  uint64_t alone : 1;   // whether this is the only line of its access
  uint64_t engine : 1;  // whether the copy engine made the access, which bypasses L1
  uint64_t group : 5;   // CacheTreatmentOfInstruction::group
  // Stores: bytes written to each sector. Atomics: the most lanes on one word of each sector.
  CountPerSector amount;
};

struct RecordedBlockAccesses {
  uint64_t index = 0;
  std::vector<std::vector<CacheLineAccess>> warps;
  uint64_t lines = 0;  // recorded
  uint64_t l1_store_cycles = 0;
  std::array<uint64_t, kLoadGroups> l1_load_cycles{};
  uint64_t dropped = 0;  // lines beyond the block's share
};

// Cycles that an access keeps L1 busy, given its lines. Loads are served from 32 banks, as shared
// memory is. Their tags are looked up in four parts, one line per cycle in each, and four missed
// sectors are written per cycle (the replay adds these). Stores leave L1 at one sector per cycle,
// and each further line costs one cycle more. (Fitted to l1tex__throughput of row_sums, gather,
// fill_walk_quad and turn_plain in data/measured/h200-model-counters.csv.)
uint64_t l1_busy_cycles(const sim::IssuedWarpAccess& access, const CacheLineAccess* lines,
                        uint64_t count);

// append_lines_of_sectors() appends the lines of a request through a texture or surface object,
// whose stores are assumed to fill their sectors. append_copy_engine_lines() appends a run of bytes
// that the copy engine copies.
void append_lines_of_sectors(const uint64_t* first, const uint64_t* end, bool stores,
                             std::vector<CacheLineAccess>& to);
void append_copy_engine_lines(uint64_t begin, uint32_t bytes, bool stores,
                              std::vector<CacheLineAccess>& to);

// Appends the lines of an access, in the order of the lanes.
void append_lines(const sim::IssuedWarpAccess& access, bool skips_l1, bool on_float,
                  std::vector<CacheLineAccess>& to, uint8_t group = 0);

// Round-robin order of the warps of one multiprocessor that still have accesses to replay.
class RoundRobinAccessReplay {
 public:
  void add_warp(const std::vector<CacheLineAccess>& accesses) {
    if (!accesses.empty())
      warps_.push_back({accesses.data(), accesses.data() + accesses.size(), 0});
  }
  bool done() const { return warps_.empty(); }
  // The next line to look up.
  const CacheLineAccess& next() const { return *warps_[turn_ < warps_.size() ? turn_ : 0].at; }

  // Issues the next access of the warp whose turn it is, and the stores that directly follow a
  // store, since a warp does not wait for stores. Calls look_up(line, warps, first) for each line.
  // `warps` is the number of warps that take turns: a missed sector arrives when each of them has
  // issued one more access. `first`: the access is the warp's first one of its group. If an access
  // has several lines, look_ahead(next, end) gets the warp's remaining lines before each look_up.
  template <class LookAhead, class LookUp>
  void issue_next_access(LookAhead look_ahead, LookUp look_up) {
    if (turn_ >= warps_.size()) turn_ = 0;
    auto& [at, end, seen] = warps_[turn_];
    const auto stores = [](const CacheLineAccess& line) {
      return line.kind == uint64_t(sim::AccessKind::store);
    };
    for (bool goes_on = at != end; goes_on;) {
      const CacheLineAccess& line = *at++;
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
  struct WarpAccessCursor {
    const CacheLineAccess *at, *end;
    uint32_t seen;  // bit mask of groups that have had an access
  };
  std::vector<WarpAccessCursor> warps_;
  size_t turn_ = 0;
};

}  // namespace lab32::counters
