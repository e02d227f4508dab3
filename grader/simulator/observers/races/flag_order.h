// The order that locks and flags in shared memory give to the threads of a block (FlagSyncTracker),
// and races between its volatile accesses (VolatileStoreRaceCheck). RaceCheck uses both for kernels
// that have fences or strong loads and stores; Causality (happens_before.h) does the same for
// device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

// A strong write makes everything visible that its thread has fenced. A thread that observes the
// write, and then passes a fence, is ordered after that. A barrier passes on to its threads what
// each of them has fenced and observed, as in Causality.
class FlagSyncTracker {
 public:
  explicit FlagSyncTracker(HappensBefore& order) : order_(order) {}

  // Call for a new block, or at a barrier of the whole block, which orders all earlier accesses.
  void clear();
  // Call before these threads synchronise with each other.
  void join_threads_at_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps);
  void fence(uint32_t warp, uint32_t mask, const ptx::MemoryOrder& order);
  // A strong access of a lane to the word at `offset`.
  void order_by_strong_access(uint32_t warp, uint32_t lane, uint64_t offset, sim::AccessKind kind,
                              const ptx::MemoryOrder& order);

 private:
  struct ThreadFenceViews {
    std::optional<HappensBefore::ThreadClockSnapshot>
        fenced;                      // the thread's view at its last fence
    HappensBefore::Token published;  // views that others fenced before it synchronised with them
    HappensBefore::Token pending;    // observed, but not yet fenced
  };
  void publish_fenced(HappensBefore::Token& to, uint32_t thread, const ThreadFenceViews& from);
  void acquire_pending(ThreadFenceViews& own, uint32_t warp, uint32_t lane);

  HappensBefore& order_;
  std::unordered_map<uint32_t, ThreadFenceViews> threads_;
  std::unordered_map<uint64_t, HappensBefore::Token> released_;  // by offset
};

// The strong accesses to words of shared memory. A volatile store is no atomic, so it races with
// all of them but polls, if nothing orders them.
class VolatileStoreRaceCheck {
 public:
  struct Access {
    uint32_t thread = 0, stamp = 0, site = 0;
    Use use = Use::read;
    uint8_t bytes = 0;
    bool polls = false, volatile_store = false;
  };
  void clear() { words_.clear(); }
  // Adds an access to a cell. Returns the earlier accesses that race with it.
  std::vector<Access> add_and_find_races(const HappensBefore& order, uint64_t cell,
                                         const Access& now);

 private:
  struct WordAccesses {
    std::vector<std::pair<uint64_t, Access>> accesses;  // with their numbers, oldest first
    std::unordered_map<uint32_t, uint64_t> last;        // number of each thread's last access
  };
  static constexpr size_t kMost = 64;  // number of accesses that are remembered for a word

  uint64_t number_ = 0;
  std::unordered_map<uint64_t, WordAccesses> words_;
};

}  // namespace lab32::counters
