// The rules of hazards in shared memory (README.md), applied to one block after the other: two
// accesses to one byte by different threads, at least one a store, not both atomic, and no barrier
// that both passed between them; reads of what the block never wrote; warp operations among absent
// lanes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/cluster_use.h"
#include "simulator/observers/races/happens_before.h"
#include "simulator/observers/races/hazard.h"
#include "simulator/observers/races/shadow.h"

namespace lab32::counters {

class RaceCheck {
  struct Key {
    Finding::Kind kind;
    bool note;
    uint32_t earlier, later;  // sites
    bool operator<(const Key& o) const;
    bool operator==(const Key& o) const;
  };
  struct Seen {
    Hazard hazard;
    // Unwritten reads that a later store turned out to race with: the race tells the whole story.
    uint64_t explained = 0;
    uint64_t in_block = 0, explained_in_block = 0;  // of the present block, not yet in the sums
    bool mattered = false;  // a value that such a read gave was used for more than a copy
  };

 public:
  // What one block added to the sums, to be added again for a block that does the same.
  class Effects {
    friend class RaceCheck;
    struct Effect {
      Seen* seen;
      uint64_t count, explained;
    };
    std::vector<Effect> effects_;
  };

  // granule, named_barriers: HazardObserver's.
  RaceCheck(uint32_t granule, bool named_barriers);

  void begin_block(const sim::BlockInfo& block);
  // Of all blocks of a cluster together, as one block whose warps and bytes of shared memory are
  // theirs, by rank (cluster_use.h): its first block begins, the others follow; then each is told
  // of when it ends, and end_block() when all have.
  void begin_cluster(const sim::BlockInfo& block);
  void join_cluster(const sim::BlockInfo& block);
  void leave_cluster(uint32_t rank);
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases, bool completes);
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase);
  void access(uint32_t warp, const sim::RawAccess& access);
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block);
  void warp_barrier(uint32_t warp, uint32_t mask);
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);
  void bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad);
  void fault(const sim::FaultEvent& fault);
  // False: what the block added depended on the values it stored, too.
  bool end_block(Effects* effects);
  void repeat(const Effects& effects);

  uint64_t bytes_in_cluster() const { return cluster_->stride(); }
  uint32_t granule() const { return shadow_.granule(); }
  bool named_barriers() const { return named_barriers_; }

  // Adds what another has seen of other blocks.
  void merge(const RaceCheck& other);
  // HazardObserver::findings.
  std::vector<Finding> findings(const std::vector<sim::SharedVariable>& variables,
                                const PositionOf& position) const;

 private:
  // The access at hand.
  struct Visit {
    const sim::RawAccess* access;
    uint32_t warp_floor;
    ShadowRecord record;  // as each lane's will be, but for its mask
  };

  bool quick(const Visit& v, uint32_t lanes, Cell& cell);
  void visit(const Visit& v, uint32_t lanes, uint64_t cell, bool same_value);
  void visit_unwritten(const Visit& v, uint32_t lanes, uint64_t cell);
  void revisit(const Visit& v, uint32_t lane, uint64_t cell, bool same_value);
  uint32_t conflicting_lanes(const Visit& v, uint32_t lane, const ShadowRecord& record) const;
  void report_race(const Visit& v, uint32_t lane, uint64_t cell, const ShadowRecord& record,
                   uint32_t lanes, bool same_value);
  void report_unwritten(const Visit& v, uint32_t lane, uint64_t cell);
  Seen& find(const Key& key);
  Hazard* first_of(Seen& seen, const Key& key, bool between_warps = false);

  bool named_barriers_;
  Shadow shadow_;
  HappensBefore order_;
  sim::BlockInfo block_{};
  std::optional<ClusterUse> cluster_;
  uint64_t sequence_ = 0;
  bool by_value_ = false;  // a store was compared with another's value in this block
  std::map<Key, Seen> seen_;
  std::vector<Seen*> in_block_;  // those the present block added to
  // A racing instruction mostly meets the same other one in all its lanes.
  struct Recent {
    Key key{Finding::Kind::race, false, 0, 0};
    Seen* seen = nullptr;
  };
  std::array<Recent, 64> recent_{};
};

}  // namespace lab32::counters
