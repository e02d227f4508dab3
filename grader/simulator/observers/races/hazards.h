// Finds errors in a kernel's use of shared memory even if its result is right: races, reads of
// words that the block never wrote, and shuffles or votes that name absent lanes. If a launch
// continues after errors, the observer also keeps the faults that the simulator found. RaceCheck
// has the rules. This observer decides which blocks RaceCheck must see: a block that repeats the
// accesses of an earlier block is not checked again.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/block_trace.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/race_check.h"

namespace lab32::counters {

class SharedMemoryHazardObserver : public sim::Observer {
 public:
  // `granule`: the size in bytes of the pieces that are compared: 4, or 2 or 1 if the kernel has
  // narrower accesses to shared memory. `named_barriers`: true if a barrier may synchronise only
  // some warps of the block. If it is false, RaceCheck remembers two warps for each word and kind
  // of access, which suffices: a third warp with a conflicting access differs from at least one of
  // them. `orders`: see race_check.h.
  SharedMemoryHazardObserver(uint32_t granule, bool named_barriers,
                             std::vector<sim::SharedVariable> variables, PositionOf position,
                             SiteOrders orders = {});

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void shared_ptx_access(uint32_t warp, const sim::PtxSharedAccessEvent& access) override;
  void async_copy_begins(uint32_t warp, const sim::PtxSharedAccessEvent& access) override;
  void async_copy_ends(uint32_t warp, const sim::PtxSharedAccessEvent& access) override;
  void fence(uint32_t warp, uint32_t mask, uint32_t site, const ptx::MemoryOrder& order) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) override;
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) override;
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                      bool completes) override;
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) override;
  void join_cluster(sim::Observer& first) override;
  void missing_lanes_used(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) override;
  void fault(const sim::FaultEvent& fault) override;
  bool wants_shared_ptx_accesses() const override { return true; }

  // One finding for each kind and line (races: pair of lines), sorted by file, line, other line. A
  // note is left out if the same lines also have a real race. Ends the current block.
  std::vector<Finding> findings();

 private:
  // The blocks of a cluster are checked together as one block (cluster_and_engine_checks.h) by the
  // observer of the cluster's first block. They are not compared with traces.
  bool in_cluster() const { return first_of_cluster_ != nullptr; }
  RaceCheck& checker() { return in_cluster() ? first_of_cluster_->check_ : check_; }
  uint32_t warp_in_cluster(uint32_t warp) const;
  sim::PtxSharedAccessEvent with_cluster_addresses(const sim::PtxSharedAccessEvent& access,
                                                   uint64_t* address) const;
  void begin_block_in_cluster(const sim::BlockInfo& block);
  void end_block_in_cluster(bool stopped);
  // Ends a block whose launch was stopped before block_end().
  void end_stopped_block();

  // The findings of a block depend on its trace: the order of its accesses and barriers. Stored
  // values matter only for races between two stores. Nearly all blocks of a kernel have the same
  // trace. So a block is first compared with a known trace and not checked. When it differs from
  // all known traces, its events so far are replayed to the check, and the remaining events are
  // checked and recorded.
  enum class Mode : uint8_t { none, following, recording, checking };
  struct KnownTrace {
    BlockTrace trace;
    RaceCheck::BlockHazardCounts effects;
    bool usable = false;
    uint64_t last_use = 0;
  };

  void process_access(BlockTrace::TraceEvent::EventType type, uint32_t warp,
                      const sim::PtxSharedAccessEvent& access);
  bool follow_known_trace(const BlockTrace::TraceEvent& event, const uint64_t* row,
                          const std::byte* values);
  bool switch_to_matching_trace(const BlockTrace::TraceEvent& event, const uint64_t* row);
  void leave_trace();
  KnownTrace& trace_to_replace();

  std::vector<sim::SharedVariable> variables_;
  PositionOf position_;
  RaceCheck check_;
  sim::BlockInfo block_{};
  Mode mode_ = Mode::none;
  std::array<KnownTrace, 4> known_traces_;
  KnownTrace* current_ = nullptr;  // the trace that is followed or recorded
  BlockTrace::TraceCursor cursor_;
  std::vector<std::byte> values_;  // values that the current block stored while it followed a trace
  uint64_t blocks_ = 0;
  SharedMemoryHazardObserver* first_of_cluster_ = nullptr;
  bool block_running_ = false;   // in a cluster: the block has begun and not ended
  uint32_t running_blocks_ = 0;  // used in the cluster's first observer: blocks that have not ended
  uint32_t unused_recordings_ = 0;  // traces recorded since a block last followed one to its end
  uint32_t blocks_to_check_ = 0;    // blocks to check before a trace is followed or recorded again
};

}  // namespace lab32::counters
