// Runs blocks of one launch on one host thread, one after the other: warps, barriers, shared
// memory, and the way of every access to device memory and to the observers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/decode.h"
#include "sim/events.h"
#include "sim/memory.h"
#include "sim/order_guard.h"
#include "sim/trap.h"
#include "sim/warp.h"

namespace lab32::sim {

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// What all host threads of a launch share; constant while it runs.
struct LaunchContext {
  const KernelProgram* program = nullptr;
  Memory* memory = nullptr;
  Extent grid, block;
  uint32_t shared_bytes = 0;     // static + dynamic
  uint64_t param_address = 0;    // kernel parameters in device memory
  uint32_t multiprocessors = 1;  // %nsmid
  uint64_t warp_budget = 0;
};

class Block {
 public:
  // `observers`: this host thread's own instances. `guard`: null in a serial run.
  Block(const LaunchContext& launch, std::vector<Observer*> observers, OrderGuard::Worker* guard);
  ~Block();

  // Runs block `index` to its end; throws Trap or OrderMatters.
  void run(uint64_t index);

  const LaunchContext& launch() const { return launch_; }
  const BlockInfo& info() const { return info_; }
  // Other host threads may run blocks of this launch at the same time.
  bool parallel() const { return guard_ != nullptr; }
  std::vector<IssueTally>& tally() { return tally_; }
  uint64_t longest_warp() const { return longest_warp_; }
  // Branches, by site, at which lanes of a warp parted.
  const std::vector<uint8_t>& diverged() const { return diverged_; }
  void note_divergence(uint32_t site) { diverged_[site] = 1; }
  // printf output of the block run last; handed over once.
  std::string take_output() { return std::move(output_); }
  void print(const std::string& text);

  // --- for instructions ---
  std::byte* shared() { return shared_.data(); }
  uint32_t shared_bytes() const { return launch_.shared_bytes; }
  bool observes_accesses() const { return !access_observers_.empty(); }
  bool observes_raw_shared() const { return !raw_observers_.empty(); }

  // Checks a warp's accesses to device memory (addresses of the lanes in mask, `bytes` each) and
  // returns the pointer to add them to. Traps name the first lane that is wrong. `operation` tells
  // the kinds of update apart (0: none, or one that does not commute).
  enum class Use : uint8_t { read, write, update };
  std::byte* global(const Warp& warp, const Inst& in, const uint64_t* address, uint32_t mask,
                    unsigned bytes, Use use, uint8_t operation = 0);
  void check_shared(const Warp& warp, const Inst& in, const uint64_t* offset, uint32_t mask,
                    unsigned bytes, Use use);
  // Reports an access the way ptxas issues it.
  void report(const Warp& warp, const Inst& in, AccessSpace space, AccessKind kind, unsigned bytes,
              uint32_t mask, const uint64_t* address, bool matrix = false);
  void report_raw_shared(const Warp& warp, const Inst& in, AccessKind kind, unsigned bytes,
                         uint32_t mask, const uint64_t* offset, const std::byte* values);
  void report_bad_warp_op(const Warp& warp, const Inst& in, uint32_t mask, uint32_t bad);
  void report_warp_barrier(const Warp& warp, uint32_t mask);

  // Block barriers: the warp's current split arrives, and waits until the barrier is complete.
  struct Arrival {
    uint32_t barrier = 0;
    uint32_t threads = 0;  // 0: all threads that have not exited
    bool wait = true;      // false: bar.arrive
    enum class Reduce : uint8_t { none, popc, all, any } reduce = Reduce::none;
    uint32_t predicate = 0;  // lane mask
    const Inst* inst = nullptr;
  };
  void arrive(Warp& warp, uint32_t mask, std::byte* regs, const Arrival& arrival);
  void threads_exited();

 private:
  struct Waiting {
    uint32_t warp;
    uint32_t split;  // its id
    uint32_t mask;
    std::byte* regs;
    const Inst* inst;
    bool waits;
  };
  struct Barrier {
    uint32_t arrived = 0, wanted = 0;
    uint32_t popc = 0;
    bool all = true, any = false;
    std::vector<Waiting> waiting;
  };
  void complete(uint32_t barrier);
  [[noreturn]] void bad_global(const Warp& warp, const Inst& in, const uint64_t* address,
                               uint32_t mask, unsigned bytes, Use use);
  [[noreturn]] void explain_standstill();
  uint32_t live_threads() const;

  const LaunchContext& launch_;
  std::vector<Observer*> observers_, access_observers_, raw_observers_;
  OrderGuard::Worker* guard_;
  BlockInfo info_{};
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<std::byte> shared_;
  std::array<Barrier, 16> barriers_;
  std::vector<IssueTally> tally_;
  std::vector<uint8_t> diverged_;
  std::string output_;
  uint64_t longest_warp_ = 0;
  std::array<Allocation*, 64> recent_{};  // by site: the allocation used last
};

}  // namespace lab32::sim
