// The happens-before relation between accesses, within a block (HappensBefore) and across blocks
// (Causality). Both receive the barriers, fences and strong accesses in the order of the run,
// hand out a stamp for each access, and answer whether a stamped access is ordered before what
// another thread does now.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

// The happens-before relation among the threads of a block, which barriers build. Every barrier
// advances one clock, and an access has the stamp of its warp's last barrier. "All accesses of
// thread a with stamps below s are ordered before mine" is then one comparison.
//
// The usual barriers, of the whole block and of a whole warp, need only a floor each. Barriers
// among fewer threads (named ones, __syncwarp() with a partial mask) need a vector clock for each
// thread. Threads that pass such a barrier together have equal vectors and share one, made at the
// barrier.
class HappensBefore {
 public:
  // Stamps grow from block to block, so that data with old stamps needs no clearing. Above
  // `restart` the clock begins again from 0.
  explicit HappensBefore(uint32_t restart = uint32_t{1} << 31) : restart_(restart) {}

  // Returns true if the clock began again: the caller must forget all stamps.
  bool begin_block_and_is_clock_reset(uint32_t threads);

  void synchronise_block();
  void synchronise_warp(uint32_t warp);
  // The threads in lane_mask_of_warp[0..warps) have waited for each other.
  void synchronise_threads(const uint32_t* lane_mask_of_warp, uint32_t warps);

  // The accesses that are ordered before a release. A thread that acquires the token is ordered
  // after them. A null token has none.
  // for each thread a stamp: its accesses with smaller stamps
  using Vector = std::vector<uint32_t>;
  using Token = std::shared_ptr<const Vector>;
  void release(Token& token, uint32_t warp, uint32_t mask);
  void acquire(const Token& token, uint32_t warp, uint32_t mask);

  // An mbarrier, by its offset in the block's shared memory. The accesses of a phase's threads
  // before they arrive are ordered before those of a thread that has observed the end of the phase.
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key);

  // The accesses of its block that a thread is ordered after now. Later accesses of its warp have
  // larger stamps.
  struct ThreadClockSnapshot {
    uint32_t block_floor = 0, warp_floor = 0;
    uint32_t own = 0;  // greater than the stamps of the thread's own accesses so far
    Token vector;
  };
  ThreadClockSnapshot advance_clock_and_take_view(uint32_t thread);
  // Adds to a token what another token has, or the accesses up to a view of the thread.
  void merge(Token& to, const Vector& from) const;
  void merge(Token& to, uint32_t thread, const ThreadClockSnapshot& view) const;

  bool is_whole_warp(uint32_t warp, uint32_t mask) const;
  uint32_t block_start() const { return block_start_; }
  uint32_t block_floor() const { return block_floor_; }
  uint32_t warp_floor(uint32_t warp) const { return warps_[warp].floor; }
  uint32_t stamp(uint32_t warp) const { return warps_[warp].stamp; }

  // True if thread a's accesses with this stamp are ordered before what thread b does now.
  bool is_ordered_before(uint32_t a, uint32_t stamp, uint32_t b) const {
    return stamp < block_floor_ || (a / 32 == b / 32 && stamp < warps_[a / 32].floor) ||
           (vectors_in_use_ && vector_[b] != nullptr && stamp < (*vector_[b])[a]);
  }

 private:
  struct WarpClock {
    uint32_t floor = 0;  // stamp at the last barrier of all its lanes
    uint32_t stamp = 0;  // stamp at the last barrier of any of its lanes
  };
  // Returns the token joined with the vectors of the warp's lanes in `mask`.
  Vector joined_vector(const Token& token, uint32_t warp, uint32_t mask) const;

  uint32_t restart_;
  uint32_t clock_ = 0, block_start_ = 0, block_floor_ = 0;
  uint32_t threads_ = 0;
  std::vector<WarpClock> warps_;
  bool vectors_in_use_ = false;
  std::vector<Token> vector_;  // the vector of each thread; null if the floors suffice
  struct MbarrierPhases {
    Token current, previous;  // the arrivals in this phase, and those in the phase before
  };
  std::map<uint64_t, MbarrierPhases> mbarriers_;
};

// A thread of the grid: the linear index of its block, and its linear index in the block.
struct GridThread {
  uint64_t block = 0;
  uint32_t thread = 0;
};

// The causality order of the PTX memory model across the blocks of a launch, as far as a run shows
// it. Barriers order the threads of a block (HappensBefore). Between blocks, order comes from a
// strong write that a strong access of another block observes, with a fence (or release) before the
// write and a fence (or acquire) after the observing access.
//
// Two rules follow the hardware, although the model states them only for a single thread: what a
// thread has fenced, and what it has observed by a strong read, reaches the other threads of its
// block through a barrier. So the usual "all threads fence, __syncthreads(), thread 0 counts" is
// correct, and so is a last block that continues after __syncthreads() without a second fence.
class Causality {
 public:
  Causality() = default;
  ~Causality();
  Causality(const Causality&) = delete;
  Causality& operator=(const Causality&) = delete;

  void begin_block(const sim::BlockInfo& block);
  void end_block(uint64_t block);
  void block_barrier(uint64_t block, const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole);
  void warp_barrier(uint64_t block, uint32_t warp, uint32_t mask);
  void mbarrier_arrive(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key, bool completes);
  void mbarrier_wait(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key);
  // The barrier of a cluster, modelled as strong accesses to a word that its threads share. `key`
  // is not an address of device memory.
  void arrive_across_blocks(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key,
                            bool releases);
  void wait_across_blocks(uint64_t block, uint32_t warp, uint32_t mask, uint64_t key);
  void fence(GridThread thread, const ptx::MemoryOrder& order);
  // A strong access of a thread, in the order of the run. It determines what the thread observes at
  // `address` and what later accesses observe of the thread.
  void order_by_strong_access(GridThread thread, uint64_t address, sim::AccessKind kind,
                              const ptx::MemoryOrder& order);

  // The releases at an address in modification order. A thread that observes the n-th value is
  // ordered after all releases up to it.
  struct ReleaseLog;
  // A prefix of a log, acquired by a thread of block `by`. A release or acquire of block scope
  // gives order only within that block.
  struct LogPrefix {
    std::shared_ptr<const ReleaseLog> log;  // null: no release
    size_t length = 0;
    uint64_t by = 0;
    bool block_only = false;
  };
  // The releases that a strong load of the word's present value observes. A load that returns this
  // value later, although the word has changed, calls observe_releases() instead of
  // order_by_strong_access().
  LogPrefix releases_at(uint64_t address) const;
  void observe_releases(GridThread thread, LogPrefix releases, const ptx::MemoryOrder& order);

  // The stamp of the thread's next access.
  uint32_t stamp(GridThread thread) const;
  // True if a's access with this stamp is ordered before what b does now.
  bool is_ordered_before(GridThread a, uint32_t stamp, GridThread b) const;

 private:
  using Knowledge = std::vector<LogPrefix>;
  // The accesses that a thread was ordered after when it released, in its own block and in others.
  struct Release {
    uint64_t id = 0;  // unique
    GridThread by;
    HappensBefore::ThreadClockSnapshot view;
    std::shared_ptr<const Knowledge> known;  // null: nothing
    bool block_only = false;
    bool covers(uint32_t thread, uint32_t stamp) const;
  };
  // The prefix of another log that the releases of a block pass on, for each position in this log.
  struct PassedOnReleaseLog {
    std::shared_ptr<const ReleaseLog> log;
    std::vector<std::pair<size_t, size_t>> lengths;  // (position, length), both increasing
  };
  // Releasing block and whether at block scope; log that is passed on; block that had acquired that
  // log and whether at block scope.
  using PassedOnReleaseLogKey = std::tuple<uint64_t, bool, const ReleaseLog*, uint64_t, bool>;
  // The last append of a thread: the `version` of its own published releases and of its block's.
  struct LastAppendVersionsOfThread {
    uint64_t own = 0, all = 0;
    bool block_only = false;
  };
  // Releases by fences, by thread. A strong write of the thread, or of one that has synchronised
  // with it since, makes them visible.
  struct FenceReleases {
    std::map<uint32_t, Release> to_device, to_block;
    bool empty() const { return to_device.empty() && to_block.empty(); }
  };
  struct ThreadOrder {
    Knowledge known, pending;  // pending: observed, but not yet fenced
    FenceReleases published;
    uint64_t version = 0;  // grows with `published`
    bool empty() const { return known.empty() && pending.empty() && published.empty(); }
  };
  struct OrderWithinBlock {
    HappensBefore order;
    ThreadOrder common;  // what all threads of the block have in common
    std::unordered_map<uint32_t, ThreadOrder> threads;
  };
  using Visited = std::map<std::tuple<const ReleaseLog*, bool, uint64_t>, size_t>;

  static void add(Knowledge& to, const LogPrefix& what);
  static void add(Knowledge& to, const Knowledge& what);
  static void join(std::map<uint32_t, Release>& to, const std::map<uint32_t, Release>& from);
  static void join(ThreadOrder& to, const ThreadOrder& from);
  void join_arrived_lanes(OrderWithinBlock& block, const uint32_t* lane_mask_of_warp,
                          uint32_t warps);
  std::shared_ptr<ReleaseLog> new_release_log();
  Release release_of(OrderWithinBlock& block, const ThreadOrder& own, GridThread actor,
                     bool block_only);
  static void append(ReleaseLog& log, const Release& release, bool block_only);
  static bool covers(const Knowledge& known, GridThread a, uint32_t stamp, Visited& visited);

  OrderWithinBlock& order_of_begun_block(uint64_t index);
  const OrderWithinBlock& block_at(uint64_t index) const;

  std::unordered_map<uint64_t, OrderWithinBlock> blocks_;  // running blocks
  // The block that began last is usually the one that runs, and is found without a search. Null: it
  // has ended.
  OrderWithinBlock* begun_last_ = nullptr;
  uint64_t index_of_begun_last_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<ReleaseLog>> logs_;  // by address
  std::vector<std::weak_ptr<ReleaseLog>> all_logs_;                 // all logs that may be alive
  size_t prune_at_ = 1024;
  uint64_t releases_ = 0, versions_ = 0;
};

}  // namespace lab32::counters
