// The rules for hazards in shared memory (README.md). RaceCheck applies them to one block after
// another. ShadowMemory is its record of the accesses to each piece of shared memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/races/cluster_and_engine_checks.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/flag_order.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

// The memory order of each instruction, by site. Empty: the kernel has no fence and no strong load
// or store, so that only barriers order its accesses to shared memory.
using SiteOrders = std::vector<ptx::MemoryOrder>;

// Lanes of one warp that accessed a cell by the same instruction, with the same kind of access,
// between two barriers of the warp. For each kind and stamp only a lane's first access is recorded,
// because any race with a later access of the lane is also a race with its first.
struct WarpCellAccessRecord {
  uint32_t stamp = 0;
  uint32_t mask = 0;
  uint32_t site = 0;
  uint16_t warp = 0;  // a cluster has up to 512 warps
  Use use : 2;
  bool strong : 1;     // an atomic, or a load or store that does not race with one
  bool unwritten : 1;  // the block had not written the word before this read
  uint8_t bytes : 5;   // bytes per lane
  WarpCellAccessRecord() : use(Use::read), strong(false), unwritten(false), bytes(0) {}
  WarpCellAccessRecord(uint32_t stamp, uint32_t site, uint32_t warp, Use use, uint8_t bytes)
      : stamp(stamp),
        site(site),
        warp(static_cast<uint16_t>(warp)),
        use(use),
        strong(use == Use::update),
        unwritten(false),
        bytes(bytes) {}
};

// Whether the accesses race if nothing orders them. VolatileStoreRaceCheck finds races between two
// volatile accesses.
inline bool races_if_unordered(const WarpCellAccessRecord& a, const WarpCellAccessRecord& b) {
  return (a.use != Use::read || b.use != Use::read) &&
         !(a.strong && b.strong && a.bytes == b.bytes);
}

// Whether the two accesses race with the same other accesses.
inline bool races_with_same_accesses(const WarpCellAccessRecord& a, const WarpCellAccessRecord& b) {
  return a.use == b.use && a.strong == b.strong && (!a.strong || a.bytes == b.bytes);
}

// One cell fills one cache line of the host. Three records suffice for nearly all words of a kernel
// without races between two barriers; further records go to the shadow's spill.
struct alignas(64) Cell {
  uint32_t newest = 0;   // largest stamp among the records
  uint32_t written = 0;  // stamp of the last write; 0: never
  uint32_t value = 0;    // last stored value, valid if value_known
  uint16_t records = 0;
  bool value_known = false;
  static constexpr uint16_t kInline = 3;
  WarpCellAccessRecord record[kInline];
};

// The accesses to each piece of shared memory since the last barrier of the whole block, and
// whether this block has written it. There is one cell for every `granule` bytes: 4, or the width
// of the kernel's narrowest access to shared memory.
class ShadowMemory {
 public:
  explicit ShadowMemory(uint32_t granule) : granule_(granule), shift_(__builtin_ctz(granule)) {}

  uint32_t granule() const { return granule_; }
  uint64_t cell_of(uint64_t offset) const { return offset >> shift_; }
  void extend_to(uint64_t bytes) {
    const uint64_t cells = (bytes + granule_ - 1) >> shift_;
    if (cells_.size() < cells) cells_.resize(cells);
  }
  void clear() { cells_.assign(cells_.size(), Cell{}); }

  uint64_t size() const { return cells_.size(); }
  Cell& operator[](uint64_t i) { return cells_[i]; }

  // The records of the cell beyond the first Cell::kInline.
  WarpCellAccessRecord* spill(uint64_t cell) { return spill_[spill_of_[cell]].data(); }
  void append(uint64_t cell, const WarpCellAccessRecord& record) {
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
    std::vector<WarpCellAccessRecord>& more = spill_[at];
    more.resize(i - Cell::kInline);  // drops the records from before the last barrier
    more.push_back(record);
  }

 private:
  uint32_t granule_;
  int shift_;
  std::vector<Cell> cells_;
  std::vector<uint32_t> spill_of_;  // by cell; 0: the cell has no spilled records
  std::vector<std::vector<WarpCellAccessRecord>> spill_{1};  // [0] is unused
};

// Checks one block after another. A race is two accesses to one byte by different threads, at least
// one of them a store, not both atomic, without a barrier between them that both threads passed.
// The check also finds reads of words that the block never wrote, and warp operations that name
// absent lanes.
class RaceCheck {
  struct RaceKey {
    Finding::Kind kind;
    bool note;
    uint32_t earlier, later;  // sites
    bool operator<(const RaceKey& o) const;
    bool operator==(const RaceKey& o) const;
  };
  struct HazardEntry {
    Hazard hazard;
    // Unwritten reads that race with a later store. The race explains them, so they are no findings
    // of their own.
    uint64_t explained = 0;
    // Counts of the current block that are not yet added to the sums.
    uint64_t in_block = 0, explained_in_block = 0;
    // a value that was read before it was written was used for more than a copy
    bool value_used = false;
  };

 public:
  // The counts that one block added. add_counts_again() adds them again for a block with the same
  // trace.
  class BlockHazardCounts {
    friend class RaceCheck;
    struct HazardEntryIncrement {
      HazardEntry* entry;
      uint64_t count, explained;
    };
    std::vector<HazardEntryIncrement> effects_;
  };

  // granule, named_barriers, orders: see SharedMemoryHazardObserver.
  RaceCheck(uint32_t granule, bool named_barriers, SiteOrders orders);

  void begin_block(const sim::BlockInfo& block);
  // The blocks of a cluster are checked as one block. Its warps and bytes are those of all its
  // blocks, numbered by rank (cluster_and_engine_checks.h). Call begin_cluster() for the first
  // block, join_cluster() for the others, leave_cluster() when a block ends, and
  // end_block_and_check_repeatable() after the last.
  void begin_cluster(const sim::BlockInfo& block);
  void join_cluster(const sim::BlockInfo& block);
  void leave_cluster(uint32_t rank);
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases, bool completes);
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase);
  void access(uint32_t warp, const sim::PtxSharedAccessEvent& access);
  // An asynchronous copy is a store when it begins, and another one when its thread has waited for
  // it, or has made an mbarrier count it. Until the wait, for the copy or for the mbarrier, no
  // thread may use the bytes, whatever other barriers it passes.
  void async_copy_begins(uint32_t warp, const sim::PtxSharedAccessEvent& access);
  void async_copy_ends(uint32_t warp, const sim::PtxSharedAccessEvent& access);
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block);
  void warp_barrier(uint32_t warp, uint32_t mask);
  // `site` is the fence instruction. Its memory order is looked up in SiteOrders, if these are not
  // empty.
  void fence(uint32_t warp, uint32_t mask, uint32_t site);
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);
  void missing_lanes_used(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad);
  void fault(const sim::FaultEvent& fault);
  // Returns false if the block's findings depended on stored values, so that `effects` must not be
  // repeated for other blocks.
  bool end_block_and_check_repeatable(BlockHazardCounts* effects);
  void add_counts_again(const BlockHazardCounts& effects);

  uint64_t bytes_in_cluster() const { return cluster_->stride(); }
  uint32_t granule() const { return shadow_.granule(); }
  bool named_barriers() const { return named_barriers_; }
  const SiteOrders& orders() const { return orders_; }

  // Adds the hazards that another instance found in other blocks.
  void merge(const RaceCheck& other);
  // SharedMemoryHazardObserver::findings.
  std::vector<Finding> findings(const std::vector<sim::SharedVariable>& variables,
                                const PositionOf& position) const;

 private:
  // The access that is being checked.
  struct CurrentAccess {
    const sim::PtxSharedAccessEvent* access;
    uint32_t warp_floor;
    WarpCellAccessRecord record;  // the record of each lane, without its mask
  };

  void finish_copy(uint64_t cell);
  bool check_fast(const CurrentAccess& v, uint32_t lanes, Cell& cell);
  void check_lanes(const CurrentAccess& v, uint32_t lanes, uint64_t cell, bool same_value);
  void check_races_on_unwritten_cell(const CurrentAccess& v, uint32_t lanes, uint64_t cell);
  void check_volatile_stores(const CurrentAccess& v, uint32_t lanes, uint64_t cell,
                             bool same_value);
  void apply_order_of_strong_access(uint32_t warp, const sim::PtxSharedAccessEvent& access);
  void check_lane(const CurrentAccess& v, uint32_t lane, uint64_t cell, bool same_value);
  uint32_t unordered_lanes_of_record(const CurrentAccess& v, uint32_t lane,
                                     const WarpCellAccessRecord& record) const;
  void report_race(const CurrentAccess& v, uint32_t lane, uint64_t cell,
                   const WarpCellAccessRecord& record, uint32_t lanes, bool same_value,
                   Hazard::Cause cause = Hazard::Cause::plain);
  // Reports lanes that use cells of a copy that is not waited for. Returns false if the cell is in
  // no such copy.
  bool report_unawaited_copy(const CurrentAccess& v, uint32_t lanes, uint64_t cell);
  void report_unwritten_read(const CurrentAccess& v, uint32_t lane, uint64_t cell);
  HazardEntry& find_or_add_entry(const RaceKey& key);
  Hazard* hazard_to_describe(HazardEntry& entry, const RaceKey& key, bool between_warps = false);

  // Whether an access may be ordered after some warps of the block and not after others.
  bool orders_some_warps() const { return named_barriers_ || !orders_.empty(); }

  bool named_barriers_;
  const SiteOrders orders_;
  const bool has_volatile_;  // an instruction is volatile
  ShadowMemory shadow_;
  HappensBefore order_;
  FlagSyncTracker flags_{order_};
  VolatileStoreRaceCheck volatile_;
  struct PendingCopiesToCell {
    uint32_t thread = 0, site = 0;  // of the newest
    uint32_t count = 0;
  };
  // by cell: copies that have begun and were not waited for
  std::unordered_map<uint64_t, PendingCopiesToCell> copies_;
  // By mbarrier: the cells of copies that it counts, until a thread waits for it.
  std::unordered_map<uint64_t, std::vector<uint64_t>> awaited_;
  bool copying_ = false;  // the access is the beginning or end of a copy
  sim::BlockInfo block_{};
  std::optional<ClusterAccessCheck> cluster_;
  uint64_t sequence_ = 0;
  bool compared_values_ = false;  // two stored values were compared in this block
  std::map<RaceKey, HazardEntry> entries_;
  std::vector<HazardEntry*> in_block_;  // entries whose counts the current block increased
  // A cache of recently used entries, because the lanes of a racing instruction usually race with
  // the same other instruction.
  struct RecentEntry {
    RaceKey key{Finding::Kind::race, false, 0, 0};
    HazardEntry* entry = nullptr;
  };
  std::array<RecentEntry, 64> recent_{};
};

}  // namespace lab32::counters
