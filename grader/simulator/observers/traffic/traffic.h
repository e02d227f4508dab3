// What a launch moves: requests and sectors of global memory, wavefronts of shared memory, for each
// instruction, summed for the launch and for each source line; and how often warps of a block get
// in each other's way in loops of compare-and-swap.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"

namespace lab32::counters {

// What one warp-wide access costs, in the unit of its memory: sectors, or wavefronts.
struct AccessCost {
  uint32_t cost = 0, ideal = 0;
  uint32_t distinct = 0;   // global memory: sectors in theory (memory_l2_theoretical_sectors)
  bool estimated = false;  // by a rule that was seen to be off now and then
};

// Of an access to global or shared memory with at least one lane.
AccessCost cost_of(const sim::Access& access);

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

// How often warps of a block get in each other's way in compare-and-swap loops on shared memory:
// the sums of floats and of 64 bits that ptxas makes such loops of.
class SpinObserver : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override { end_phase(); }
  void access(uint32_t warp, const sim::Access& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  bool wants_accesses() const override { return true; }

  // Of a lane's word, the share of the rounds of the block's other warps that change it, on the
  // mean: 1 where all warps go to the same words, 0 where each has words of its own. What lies
  // between two barriers of the block counts together.
  double shared_words() const { return lanes_ > 0 ? meetings_ / lanes_ : 0; }
  // Lanes that take part in the last round of a loop, on the mean: so many words decide how long it
  // takes.
  double last_lanes() const { return loops_ > 0 ? in_last_ / loops_ : 0; }

 private:
  void end_phase();
  void end_loop(uint32_t warp);

  struct Word {
    uint32_t all = 0;  // updates
    std::unordered_map<uint32_t, uint32_t> of_warp;
  };
  std::unordered_map<uint64_t, Word> words_;
  std::vector<uint64_t> rounds_;  // of each warp
  std::vector<uint32_t> trying_;  // lanes of each warp in its latest round
  double lanes_ = 0, meetings_ = 0, loops_ = 0, in_last_ = 0;
};

}  // namespace lab32::counters
