// Traffic of a launch. TrafficObserver counts requests and sectors of global memory and wavefronts
// of shared memory for each instruction, and sums them for the launch and for each source line.
// CasLoopContentionObserver measures how often warps of a block delay each other in
// compare-and-swap loops.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"

namespace lab32::counters {

// Cost of one warp-wide access in the unit of its memory: sectors or wavefronts.
struct AccessCost {
  uint32_t cost = 0, ideal = 0;
  uint32_t distinct = 0;   // global memory: memory_l2_theoretical_sectors
  bool estimated = false;  // counted by a rule that is wrong for some measured patterns
};

// The cost of an access to global or shared memory with at least one active lane.
AccessCost cost_of(const sim::IssuedWarpAccess& access);

// One access, kept so that the report can show its lanes.
struct ExampleWarpAccess {
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
  void block_begin(const sim::BlockInfo& block) override;
  void access(uint32_t warp, const sim::IssuedWarpAccess& access) override;
  void warp_barrier(uint32_t warp, uint32_t /*mask*/) override { served_shared_.erase(warp); }
  void remote_shared_access(uint32_t warp, const sim::IssuedWarpAccess& access,
                            bool alone) override;
  void texel_access(uint32_t warp, const sim::WarpTexelAccess& access) override;
  void bulk_move(uint32_t warp, const sim::ContiguousBulkMove& move) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  bool wants_accesses() const override { return true; }

  // Adds the simulator's issue counts by site. Call once, after all forks are merged.
  void add_issue_counts(const std::vector<sim::StaticInstructionIssueCounts>& tally);

  Counters totals() const;
  // As totals(), but accesses that could not be matched with the machine code count as rarely as it
  // may issue them: a lane loads a value once and keeps it in a register.
  Counters least_totals() const;
  Counters counters_of_site(uint32_t site) const;  // accesses only, no issue counts
  // Sorted by file, then line. Sites without a position come first, under file "" and line 0.
  // block_barriers is counted only for the launch and is 0 here.
  std::vector<LineCounters> counters_by_line(const PositionOf& position) const;

  // The access of a site with the highest cost relative to its ideal; among equals, that of the
  // lowest block, then the earliest. Null if the site accessed neither global nor shared memory.
  const ExampleWarpAccess* worst_example(uint32_t site) const;
  // The worst access among all sites of a line.
  const ExampleWarpAccess* worst_on_line(const PositionOf& position, int line) const;

 private:
  struct AccessSums {
    uint64_t requests = 0, lanes = 0, cost = 0, distinct = 0, ideal = 0, bytes = 0;
    uint64_t distinct_bytes = 0;
    void add(const sim::IssuedWarpAccess& access, const AccessCost& cost);
    void operator+=(const AccessSums& from);
  };

  // Counts of one instruction for one space and kind of access. A generic access may reach two
  // spaces, and a PTX atomic may be issued as a load and a compare-and-swap.
  struct SiteTally {
    uint32_t site = 0;
    sim::AccessSpace space = sim::AccessSpace::global;
    sim::AccessKind kind = sim::AccessKind::load;
    bool ptx_level = false;
    AccessSums executed, least;
    ExampleWarpAccess worst;
    Counters counters(const AccessSums& sums) const;
  };

  Counters totals_of(AccessSums SiteTally::*sums) const;
  // The lanes of an unmatched access that no machine instruction has served yet.
  uint32_t lanes_not_yet_served(uint32_t warp, const sim::IssuedWarpAccess& access);

  SiteTally& tally_of(uint32_t site, sim::AccessSpace space, sim::AccessKind kind);
  // Counters of an instruction whose traffic is not a load or store of its own block's memory.
  Counters& other_counters(uint32_t site) { return other_counters_[site]; }

  static constexpr uint32_t kNone = 0xffffffffu;
  uint64_t block_ = 0;
  uint64_t block_barriers_ = 0;
  // The pieces of memory that lanes of the block have loaded (index 0) or stored (index 1) by
  // unmatched accesses, for each warp; global and shared memory separately. A barrier clears those
  // of shared memory, because a lane cannot keep such values in registers across it.
  using Pieces = std::array<std::unordered_set<uint64_t>, 2>;
  std::map<uint32_t, Pieces> served_global_, served_shared_;
  std::vector<uint32_t> index_;  // (site, space, kind) -> index in tallies_
  std::vector<SiteTally> tallies_;
  std::map<uint32_t, Counters> other_counters_;  // by site
  std::vector<sim::StaticInstructionIssueCounts> issues_;
};

// Measures how often warps of a block delay each other in compare-and-swap loops on shared memory,
// which ptxas generates for sums of floats and of 64-bit integers.
class CasLoopContentionObserver : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override { end_barrier_interval(); }
  void access(uint32_t warp, const sim::IssuedWarpAccess& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  bool wants_accesses() const override { return true; }

  // The mean over lanes of the share of the other warps' rounds that change the lane's word: 1 if
  // all warps update the same words, 0 if each warp has its own. Accesses between two barriers of
  // the block count together.
  double shared_words() const { return lanes_ > 0 ? conflicting_updates_ / lanes_ : 0; }
  // Mean number of lanes in the last round of a loop. This number of words decides how long the
  // round takes.
  double last_lanes() const { return loops_ > 0 ? last_round_lanes_ / loops_ : 0; }

 private:
  void end_barrier_interval();
  void end_spin_loop(uint32_t warp);

  struct WordUpdateCountsByWarp {
    uint32_t all = 0;  // updates
    std::unordered_map<uint32_t, uint32_t> of_warp;
  };
  std::unordered_map<uint64_t, WordUpdateCountsByWarp> words_;
  std::vector<uint64_t> rounds_;  // number of rounds of each warp's loop
  std::vector<uint32_t> trying_;  // number of lanes that each warp had in its latest round
  double lanes_ = 0, conflicting_updates_ = 0, loops_ = 0, last_round_lanes_ = 0;
};

}  // namespace lab32::counters
