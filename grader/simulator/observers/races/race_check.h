// The rules of hazards in shared memory (README.md), applied to one block after the other, and what
// they remember of each piece of shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"
#include "simulator/observers/races/outside_use.h"

namespace lab32::counters {

inline bool conflict(Use a, Use b) {
  return a == Use::write || b == Use::write || (a == Use::update) != (b == Use::update);
}

// Lanes of one warp that touched a cell in one way, from one instruction, between two of the warp's
// barriers. A lane stands in one record only for each way and stamp: any race with its later
// accesses is one with its first as well.
struct ShadowRecord {
  uint32_t stamp = 0;
  uint32_t mask = 0;
  uint32_t site = 0;
  uint16_t warp = 0;  // a cluster has up to 512
  Use use : 2;
  bool unwritten : 1;  // it read what the block had not written
  uint8_t bytes : 5;   // that a lane accessed
  ShadowRecord() : use(Use::read), unwritten(false), bytes(0) {}
  ShadowRecord(uint32_t stamp, uint32_t site, uint32_t warp, Use use, uint8_t bytes)
      : stamp(stamp),
        site(site),
        warp(static_cast<uint16_t>(warp)),
        use(use),
        unwritten(false),
        bytes(bytes) {}
};

// One cache line. Three records hold nearly everything a kernel without races does to a word
// between barriers; more go to the shadow's spill.
struct alignas(64) Cell {
  uint32_t newest = 0;   // largest stamp among the records
  uint32_t written = 0;  // stamp of the last write; 0: never
  uint32_t value = 0;    // last stored value, if value_known
  uint16_t records = 0;
  bool value_known = false;
  static constexpr uint16_t kInline = 3;
  ShadowRecord record[kInline];
};

// What the hazard check remembers of each piece of shared memory: who touched it since the last
// barrier of the whole block, and whether this block has written it.
// It has a cell for every `granule` bytes: 4, or as few as the kernel's narrowest shared access
// has.
class Shadow {
 public:
  explicit Shadow(uint32_t granule) : granule_(granule), shift_(__builtin_ctz(granule)) {}

  uint32_t granule() const { return granule_; }
  uint64_t cell_of(uint64_t offset) const { return offset >> shift_; }
  void cover(uint64_t bytes) {
    const uint64_t cells = (bytes + granule_ - 1) >> shift_;
    if (cells_.size() < cells) cells_.resize(cells);
  }
  void clear() { cells_.assign(cells_.size(), Cell{}); }

  uint64_t size() const { return cells_.size(); }
  Cell& operator[](uint64_t i) { return cells_[i]; }

  // The records beyond the inline ones.
  ShadowRecord* spill(uint64_t cell) { return spill_[spill_of_[cell]].data(); }
  void append(uint64_t cell, const ShadowRecord& record) {
    Cell& c = cells_[cell];
    const uint32_t i = c.records++;
    if (i < Cell::kInline) {
      c.record[i] = record;
      return;
    }
    if (spill_of_.size() < cells_.size()) spill_of_.resize(cells_.size());
    uint32_t& at = spill_of_[cell];
    if (at == 0) {
      at = static_cast<uint32_t>(spill_.size());
      spill_.emplace_back();
    }
    std::vector<ShadowRecord>& more = spill_[at];
    more.resize(i - Cell::kInline);  // drops what an earlier epoch left
    more.push_back(record);
  }

 private:
  uint32_t granule_;
  int shift_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> spill_of_;  // by cell, where any spills; 0: this one never did
  std::vector<std::vector<ShadowRecord>> spill_{1};  // [0] is nobody's
};

// The rules of hazards in shared memory (README.md), applied to one block after the other: two
// accesses to one byte by different threads, at least one a store, not both atomic, and no barrier
// that both passed between them; reads of what the block never wrote; warp operations among absent
// lanes.
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
  // theirs, by rank (outside_use.h): its first block begins, the others follow; then each is told
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
