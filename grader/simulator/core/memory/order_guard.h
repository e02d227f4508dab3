// Keeps parallel launches deterministic.
//
// Blocks of a launch have no order, so they may run on several host threads; but a kernel whose
// blocks touch the same data would then give results that depend on timing. The guard notes, for
// each host thread, which allocations it read, wrote and updated with commuting atomics, and which
// words it wrote. If an allocation was used in two of these ways, or a word was written by two
// threads, what was done is rolled back. It is tried again with every word that is read noted, too,
// for the allocations concerned: each block of x[i] = f(x[i]) keeps to words of its own. Where that
// does not help either, the blocks run one after another: the result of a serial run is the
// definition, the parallel one only a faster way to it.
//
// A launch is guarded in rounds of consecutive blocks. A round ends when what it takes to roll
// it back has grown to a set share of the device memory in use.
//
// Where races are looked for, the guard also keeps a RaceFilter, of blocks that run in order, too.
// A word that becomes suspect is a matter of order; and since the launch is then run again from its
// beginning, nothing is committed before its end.
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

class OrderGuard {
 public:
  // in_order: one worker, whose blocks may do what they like.
  enum class Mode : uint8_t { at_once, in_order };
  OrderGuard(Memory& memory, unsigned workers, Mode mode, bool find_races);
  ~OrderGuard();
  OrderGuard(const OrderGuard&) = delete;
  OrderGuard& operator=(const OrderGuard&) = delete;

  // What an access does, and who it is. strong: it may meet other strong ones of any block.
  struct Accessor {
    WarpEpoch who;
    bool strong = false;
  };

  // One host thread's view. Each of these comes before the access itself.
  class alignas(128) Worker {
   public:
    void read(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes,
              const Accessor& by) {
      if (used_[a.index] != kRead) first_read(a, address, mask, bytes, by);
    }
    void write(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes,
               const Accessor& by);
    // read() has nothing to do.
    bool may_read(const Allocation& a) const { return used_[a.index] == kRead; }
    // An atomic; `operation` of a commuting one distinguishes add from max and so on, else 0.
    void update(Allocation& a, uint8_t operation, const uint64_t* address, uint32_t mask,
                unsigned bytes, const Accessor& by);
    // The same of a whole warp.
    void read_row(Allocation& a, const WarpRow& row, unsigned bytes, const Accessor& by);
    void write_row(Allocation& a, const WarpRow& row, unsigned bytes, const Accessor& by);
    bool at_once() const { return guard_->mode_ == Mode::at_once; }

   private:
    friend class OrderGuard;
    static constexpr uint8_t kRead = 1, kWrite = 2, kUpdate = 4, kByWord = 64, kClash = 128;
    void first_read(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes,
                    const Accessor& by);
    void record_access(RaceAccess how, const Accessor& by, const uint64_t* address, uint32_t mask,
                       unsigned bytes);
    void note(Allocation& a, uint8_t use);
    void mark(WordMap& map, const uint64_t* address, uint32_t mask, unsigned bytes);
    void mark_row(WordMap& map, uint64_t address);
    void forget_words();
    void save(const Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes);
    void save_lines(const Allocation& a, uint64_t first, uint64_t last);
    void save_line(const Allocation& a, uint64_t line);

    OrderGuard* guard_ = nullptr;
    GuardRecords::OfWorker* records_ = nullptr;
    std::vector<uint8_t> used_;       // by allocation index
    std::vector<uint8_t> operation_;  // of updates
    // The maps are still those of the round before: each worker empties its own, on its thread.
    bool stale_ = false;
    std::unique_ptr<RaceFilter> race_filter_;  // null: races are not looked for
  };

  Worker& worker(unsigned i) { return *workers_[i]; }

  // --- during a round ---
  // Enough to roll back: the round should end with the blocks that are under way.
  bool full() const {
    return !find_races_ && saved_bytes_.load(std::memory_order_relaxed) > limit_;
  }

  // --- when all workers have stopped ---
  // True if what they did is valid; false if the round must be rolled back.
  bool validate();
  // Puts back what was written since the last commit, and begins another round. True: it may come
  // off now, since words will be noted that were not.
  bool rollback();
  // Keeps it, and begins another.
  void commit();
  // The words of a launch in order that may have been raced for; null: none.
  bool has_suspects() const {
    const auto& filter = workers_.front()->race_filter_;
    return filter && filter->any_suspect();
  }
  std::unique_ptr<RaceFilter> take_suspects();
  // Are there allocations in which every word is noted?
  bool by_word() const { return by_word_count_ != 0; }
  // Which, by index; and before the first round: those in which it will have to be.
  std::vector<uint32_t> tracked_by_word() const;
  void track_by_word(const std::vector<uint32_t>& allocations);

 private:
  void next_round();
  void request_word_tracking(const Allocation& a);
  bool words_disjoint() const;

  // What host threads look at with each access, and nobody writes while they run.
  Memory& memory_;
  const Mode mode_;
  const bool find_races_;
  uint64_t limit_ = 0;
  std::unique_ptr<GuardRecords> records_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<uint8_t> by_word_;  // by allocation index
  size_t by_word_count_ = 0, wanted_ = 0;
  std::mutex mutex_;
  // Apart from those: all threads add to it.
  alignas(128) std::atomic<uint64_t> saved_bytes_{0};
};

}  // namespace lab32::sim
