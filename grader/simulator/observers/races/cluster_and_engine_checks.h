// Checks of accesses to a block's shared memory that its own threads do not make: those of the
// other blocks of its cluster (ClusterAccessCheck), and those of the copy engine
// (BulkCopyRaceCheck).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

// Checks accesses to the shared memory of other blocks of a cluster. RaceCheck treats the cluster
// as one block whose warps and bytes are numbered rank by rank. In addition an access to another
// block's memory must be ordered after that block has started and before it ends (CUDA programming
// guide, "Distributed Shared Memory"). This class finds accesses that are not.
class ClusterAccessCheck {
 public:
  // Key of the cluster's barrier among the mbarriers; the next phase has the key after it.
  static constexpr uint64_t kBarrier = uint64_t{1} << 62;

  explicit ClusterAccessCheck(const sim::BlockInfo& first);
  void join(const sim::BlockInfo& block);
  // Call when all blocks have started. Later accesses have larger stamps.
  void started(const HappensBefore& order) { start_ = order.block_start(); }

  uint32_t threads() const { return blocks_count_ * warps_ * 32; }
  uint32_t shared_bytes() const { return blocks_count_ * stride_; }
  // Bytes from the shared memory of one block to that of the next rank.
  uint32_t stride() const { return stride_; }

  // Call when these lanes have observed the end of a phase of the cluster's barrier, which means
  // that all blocks have started.
  void passed_barrier(uint32_t warp, uint32_t mask) { past_barrier_[warp] |= mask; }
  // An access before the owner's start, or not ordered before the owner's end. end_block() returns
  // them.
  struct LifetimeError {
    uint32_t site, lanes;
    sim::TrapFacts facts;
  };
  void access(const HappensBefore& order, uint32_t warp, const sim::PtxSharedAccessEvent& access);
  // Call when a block ends. Returns the errors found so far and the accesses to its memory that are
  // not ordered before its end.
  std::vector<LifetimeError> end_block(const HappensBefore& order, uint32_t rank);

  // Translates thread numbers and offsets of the cluster to those of the blocks.
  void make_block_relative(Hazard& hazard) const;

 private:
  struct RemoteSharedAccess {
    uint32_t stamp, lanes;
    uint64_t offset;
    uint8_t bytes;
    Use use;
  };
  uint32_t rank_of_warp(uint32_t warp) const { return warp / warps_; }
  sim::TrapFacts trap_facts(sim::TrapReason reason, uint32_t warp, uint32_t lane, uint32_t owner,
                            const RemoteSharedAccess& remote) const;
  // True if the access is ordered before what some thread of the block does now.
  bool is_ordered_before_thread_of_block(const HappensBefore& order, uint32_t rank, uint32_t thread,
                                         uint32_t stamp) const;

  uint32_t blocks_count_, warps_, stride_;
  uint32_t start_ = 0;
  std::vector<sim::BlockInfo> blocks_;  // by rank
  std::vector<uint32_t> past_barrier_;  // by warp
  // By warp and owner: lanes that are ordered after the owner's start.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> after_start_;
  // By owner, warp and site.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<RemoteSharedAccess>> remote_;
  std::vector<LifetimeError> errors_before_start_;
};

// Checks how a block shares its memory with the copy engine, which accesses it through another
// proxy than threads do (PTX ISA, "proxies"). Writes of threads must be made visible to the engine
// by fence.proxy.async before a copy reads them. Memory that a copy reads must not change until the
// copying thread has waited for the group (cp.async.bulk.wait_group). An error is reported only if
// no order of the block's threads makes the access valid.
class BulkCopyRaceCheck : public sim::Observer {
 public:
  std::unique_ptr<sim::Observer> fork() const override {
    return std::make_unique<BulkCopyRaceCheck>();
  }
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void shared_ptx_access(uint32_t warp, const sim::PtxSharedAccessEvent& access) override;
  void copy_engine_event(uint32_t warp, const sim::CopyEngineEvent& event) override;
  void block_barrier(const uint32_t*, uint32_t, bool) override { note_synchronisation(); }
  void warp_barrier(uint32_t, uint32_t) override { note_synchronisation(); }
  void mbarrier_wait(uint32_t, uint32_t, uint64_t) override { note_synchronisation(); }
  void fence(uint32_t, uint32_t, uint32_t, const ptx::MemoryOrder&) override {
    note_synchronisation();
  }
  bool wants_shared_ptx_accesses() const override { return true; }

  std::vector<Finding> findings(const PositionOf& position) const;

 private:
  // The last write of a thread to a word of shared memory.
  struct LastThreadWrite {
    uint32_t when = 0, synchronisation = 0,
             thread = 0;  // `when` is 0 if the word is unwritten, or was written by the copy engine
  };
  // Bytes that a copy reads, with the copying thread and its group. After the thread has waited for
  // the group, the entry stays until the next synchronisation of threads.
  struct EngineRead {
    uint32_t site, thread, group;
    uint64_t begin, end;
    bool waited = false;
  };

  // Call when some threads have synchronised: earlier accesses of one of them may now be ordered
  // before later ones of another.
  void note_synchronisation();
  void check_engine_read(uint32_t warp, const sim::CopyEngineEvent& event);
  void add_or_count_hazard(sim::TrapReason reason, uint32_t site, uint32_t thread, uint32_t other,
                           uint64_t offset, uint32_t bytes, sim::AccessUse use);
  sim::BlockAndThreadIndex thread_id(uint32_t thread) const;

  bool checked_ = false;
  sim::BlockInfo block_{};
  uint32_t now_ = 0, synchronisations_ = 0, last_fence_ = 0;
  bool fenced_ = false;
  std::vector<LastThreadWrite> words_;
  std::vector<uint32_t> fence_of_thread_, groups_of_thread_;
  std::vector<EngineRead> readings_;
  std::map<std::pair<sim::TrapReason, uint32_t>, Hazard> seen_;  // by site
};

}  // namespace lab32::counters
