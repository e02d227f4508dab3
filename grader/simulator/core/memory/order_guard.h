// SerialEquivalenceRollback: makes the results of a parallel launch equal to those of running the
// blocks one after the other.
//
// The blocks of a launch may run on several host threads. If they access the same data, the results
// would depend on timing. The guard records for each host thread which allocations it read, wrote
// and updated with commuting atomics, and which words it wrote. If an allocation was used in two of
// these ways, or two threads wrote one word, the round is rolled back. The guard then tries again
// and also records every word that is read in the allocations concerned: in x[i] = f(x[i]) each
// block accesses only its own words. If this fails, too, the blocks run one after the other. The
// serial result is the definition; the parallel run is only a faster way to it.
//
// A launch runs in rounds of consecutive blocks. A round ends when its undo log exceeds a fixed
// share of the device memory in use.
//
// If race detection is on, the guard also maintains a PossibleRaceDetector, even for blocks that
// run in order. A suspect word counts as a dependence on order. The launch is then run again from
// its beginning, so nothing is committed before the launch ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/core/memory/access.h"
#include "simulator/core/memory/guard_records.h"
#include "simulator/core/memory/memory.h"
#include "simulator/core/memory/race_filter.h"

namespace lab32::sim {

class SerialEquivalenceRollback {
 public:
  // in_order: one worker, whose blocks are not restricted.
  enum class Mode : uint8_t { at_once, in_order };
  SerialEquivalenceRollback(Memory& memory, unsigned workers, Mode mode, bool find_races);
  ~SerialEquivalenceRollback();
  SerialEquivalenceRollback(const SerialEquivalenceRollback&) = delete;
  SerialEquivalenceRollback& operator=(const SerialEquivalenceRollback&) = delete;

  // The source of an access. strong: the access does not race with other strong accesses of any
  // block.
  struct AccessingWarp {
    WarpEpoch who;
    bool strong = false;
  };

  // The records of one host thread. The caller reports each access before it carries it out.
  class alignas(128) Worker {
   public:
    void record_read(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes,
                     const AccessingWarp& by) {
      if (used_[a.index] != kRead) record_read_slow_path(a, address, mask, bytes, by);
    }
    void record_write(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes,
                      const AccessingWarp& by);
    // Whether a read of this allocation needs no call of record_read().
    bool may_read(const Allocation& a) const { return used_[a.index] == kRead; }
    // Reports an atomic. `operation` identifies a commuting operation (add, max, …); 0 for others.
    void record_update(Allocation& a, uint8_t operation, const uint64_t* address, uint32_t mask,
                       unsigned bytes, const AccessingWarp& by);
    // Reports an access by all lanes of a warp, whose addresses form a row.
    void record_strided_read(Allocation& a, const StridedHalfWarpPair& row, unsigned bytes,
                             const AccessingWarp& by);
    void record_strided_write(Allocation& a, const StridedHalfWarpPair& row, unsigned bytes,
                              const AccessingWarp& by);
    bool at_once() const { return guard_->mode_ == Mode::at_once; }

   private:
    friend class SerialEquivalenceRollback;
    static constexpr uint8_t kRead = 1, kWrite = 2, kUpdate = 4, kByWord = 64, kClash = 128;
    void record_read_slow_path(Allocation& a, const uint64_t* address, uint32_t mask,
                               unsigned bytes, const AccessingWarp& by);
    void pass_access_to_suspect_detector(RaceAccess how, const AccessingWarp& by,
                                         const uint64_t* address, uint32_t mask, unsigned bytes);
    void note_use_or_throw_on_clash(Allocation& a, uint8_t use);
    void mark_words(WordBitmap& map, const uint64_t* address, uint32_t mask, unsigned bytes);
    void mark_row_of_words(WordBitmap& map, uint64_t address);
    void forget_words();
    void save_accessed_lines(const Allocation& a, const uint64_t* address, uint32_t mask,
                             unsigned bytes);
    void save_lines(const Allocation& a, uint64_t first, uint64_t last);
    void save_line(const Allocation& a, uint64_t line);

    SerialEquivalenceRollback* guard_ = nullptr;
    OrderGuardRecords::WorkerRecords* records_ = nullptr;
    std::vector<uint8_t> used_;       // by allocation index
    std::vector<uint8_t> operation_;  // operation of each update
    std::vector<uint8_t> size_;       // size of each update in bytes; 0: none yet
    // The maps still hold the previous round; the worker clears them on its own thread.
    bool stale_ = false;
    std::unique_ptr<PossibleRaceDetector> suspect_detector_;  // null: race detection is off
  };

  Worker& worker(unsigned i) { return *workers_[i]; }

  // --- during a round ---
  // Whether the undo log is full, so that the round should end with the blocks that are running.
  bool is_undo_log_full() const {
    return !find_races_ && saved_bytes_.load(std::memory_order_relaxed) > limit_;
  }

  // --- when all workers have stopped ---
  // True if the round is valid; false if it must be rolled back.
  bool validate_round();
  // Undoes all writes since the last commit and begins a new round. True: another parallel attempt
  // may succeed, because the guard now tracks more allocations by word.
  bool rollback();
  // Commits the round and begins a new one.
  void commit();
  // The suspect words of a launch that ran in order; null: there are none.
  bool has_suspect_words() const {
    const auto& filter = workers_.front()->suspect_detector_;
    return filter && filter->any_suspect();
  }
  std::unique_ptr<PossibleRaceDetector> take_suspect_words();
  // Whether any allocation is tracked by word.
  bool by_word() const { return by_word_count_ != 0; }
  // Gets the indices of the allocations that are tracked by word, or sets them before the first
  // round.
  std::vector<uint32_t> allocations_tracked_by_word() const;
  void track_by_word(const std::vector<uint32_t>& allocations);

 private:
  void next_round();
  void request_word_tracking(const Allocation& a);
  bool are_words_disjoint() const;

  // Host threads read these members at each access, and no thread writes them while blocks run.
  Memory& memory_;
  const Mode mode_;
  const bool find_races_;
  uint64_t limit_ = 0;
  std::unique_ptr<OrderGuardRecords> records_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<uint8_t> by_word_;  // by allocation index
  size_t by_word_count_ = 0, wanted_ = 0;
  std::mutex mutex_;
  // This counter has cache lines of its own, because all threads add to it.
  alignas(128) std::atomic<uint64_t> saved_bytes_{0};
};

}  // namespace lab32::sim
