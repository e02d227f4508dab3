// Keeps parallel launches deterministic.
//
// Blocks of a launch have no order, so they may run on several host threads; but a kernel whose
// blocks touch the same data would then give results that depend on timing. The guard notes, for
// each host thread, which allocations it read, wrote and updated with commuting atomics, and which
// words it wrote. If an allocation was used in two of these ways, or a word was written by two
// threads, the launch is undone and run again with the blocks one after another: the result of a
// serial run is the definition, the parallel one only a faster way to it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sim/memory.h"

namespace lab32::sim {

class OrderGuard {
 public:
  OrderGuard(Memory& memory, unsigned workers);
  ~OrderGuard();

  class Worker {
   public:
    void read(Allocation& a) {
      if ((used_[a.index] & (kRead | kClash)) != kRead) note(a, kRead);
    }
    // Notes the words the lanes write.
    void write(Allocation& a, const uint64_t* address, uint32_t mask, unsigned bytes);
    // A commuting integer atomic; `operation` distinguishes add from max and so on.
    void update(Allocation& a, uint8_t operation);

   private:
    friend class OrderGuard;
    static constexpr uint8_t kRead = 1, kWrite = 2, kUpdate = 4, kClash = 128;
    void note(Allocation& a, uint8_t use);
    OrderGuard* guard_ = nullptr;
    std::vector<uint8_t> used_;       // by allocation index
    std::vector<uint8_t> operation_;  // of updates
    uint8_t* words_ = nullptr;        // a bit for each 4-byte word of device memory
  };

  Worker& worker(unsigned i) { return *workers_[i]; }

  // After all workers are done: true if the parallel result stands, false if the launch must be
  // undone.
  bool settled() const;
  // Puts back what the launch wrote.
  void undo();
  // Keeps it.
  void accept();

 private:
  void snapshot(Allocation& a);
  struct Saved {
    std::vector<std::byte> data;
    std::vector<uint8_t> bits;
    bool pristine = false, initialised = false;
  };
  Memory& memory_;
  uint64_t word_bytes_ = 0;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  std::vector<std::atomic<uint8_t>> saved_flag_;
  std::unordered_map<uint32_t, Saved> saved_;
};

}  // namespace lab32::sim
