// Counts what a launch moves: requests and sectors of global memory, wavefronts of shared memory,
// for each instruction; sums them for the launch and for each source line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/position.h"

namespace lab32::counters {

// One access, kept to be shown lane by lane.
struct Example {
  uint32_t site = 0;
  uint64_t block = 0;
  uint32_t warp = 0;
  sim::AccessSpace space = sim::AccessSpace::global;
  sim::AccessKind kind = sim::AccessKind::load;
  uint8_t bytes = 4;
  bool matrix = false;
  uint32_t mask = 0;
  std::array<uint64_t, 32> address{};  // lanes outside mask: 0
  uint32_t cost = 0;                   // sectors, or wavefronts
  uint32_t ideal = 0;
};

class TrafficObserver : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override { block_ = block.index; }
  void access(uint32_t warp, const sim::Access& access) override;
  void remote_access(uint32_t warp, const sim::Access& access, bool alone) override;
  void texels(uint32_t warp, const sim::TexelAccess& access) override;
  void bulk(uint32_t warp, const sim::BulkMove& move) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  bool wants_accesses() const override { return true; }

  // The simulator's issue counts, one a site; once, after all forks are merged.
  void add_issues(const std::vector<sim::IssueTally>& tally);

  Counters totals() const;
  Counters of_site(uint32_t site) const;  // its accesses: no issue counts
  // Sorted by file, then line; what has no position stands first, under file "" and line 0.
  // block_barriers are the launch's, not a line's: 0 here.
  std::vector<LineCounters> lines(const PositionOf& position) const;

  // The costliest access of a site relative to its ideal; of equals, the one of the lowest block,
  // then the earliest. Null: the site moved nothing through global or shared memory.
  const Example* worst(uint32_t site) const;
  // The same over all sites of a line.
  const Example* worst_on_line(const PositionOf& position, int line) const;

 private:
  // What one instruction did in one space and as one kind. A generic access may reach two spaces,
  // and a PTX atomic may be issued as a load and a compare-and-swap.
  struct Tally {
    uint32_t site = 0;
    sim::AccessSpace space = sim::AccessSpace::global;
    sim::AccessKind kind = sim::AccessKind::load;
    bool ptx_level = false;
    uint64_t requests = 0, lanes = 0, cost = 0, distinct = 0, ideal = 0, bytes = 0;
    Example worst;
    Counters counters() const;
  };

  Tally& tally_of(uint32_t site, sim::AccessSpace space, sim::AccessKind kind);
  // What an instruction moved in other ways than by loads and stores of its block's memory.
  Counters& other_ways(uint32_t site) { return other_ways_[site]; }

  static constexpr uint32_t kNone = 0xffffffffu;
  uint64_t block_ = 0;
  uint64_t block_barriers_ = 0;
  std::vector<uint32_t> index_;  // (site, space, kind) -> position in tallies_
  std::vector<Tally> tallies_;
  std::map<uint32_t, Counters> other_ways_;  // by site
  std::vector<sim::IssueTally> issues_;
};

}  // namespace lab32::counters
