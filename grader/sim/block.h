// Runs blocks of one launch on one host thread, one after the other: warps, barriers, shared
// memory, and the way of every access to device memory and to the observers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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
  // Blocks that the device holds at once: so many may wait for each other (residents.h).
  uint64_t resident_blocks = 1;
  // Where grid.sync() counts the blocks that came; 0: not a cooperative launch.
  uint64_t grid_workspace = 0;
  bool trap_uninitialised = true;
  bool keep_going = false;  // tell observers of mistakes instead of trapping
};

class Block {
 public:
  // `observers`: this host thread's own instances. `guard`: null in a serial run.
  Block(const LaunchContext& launch, std::vector<Observer*> observers, OrderGuard::Worker* guard);
  ~Block();

  // Starts block `index`, which go_on() then runs. `slice`: instructions of a warp's turn.
  void begin(uint64_t index);
  // polls: every warp that could run read, and had used up its turn reading, device memory in ways
  // by which one waits for another block. Throws Trap or OrderMatters.
  enum class State : uint8_t { done, polls };
  State go_on(uint64_t slice = kWarpSlice);
  // Warps of a block take turns of so many instructions, so that one that spins on what another
  // warp of the block will write does not run for ever.
  static constexpr uint64_t kWarpSlice = 20'000;

  const LaunchContext& launch() const { return launch_; }
  const BlockInfo& info() const { return info_; }
  // Other host threads may run blocks of this launch at the same time.
  bool parallel() const { return guard_ != nullptr; }
  std::vector<IssueTally>& tally() { return tally_; }
  uint64_t longest_warp() const { return longest_warp_; }
  // Where the first of its warps that polls stands.
  uint32_t polling_site() const;
  // The first bad access of memory that did not end the launch.
  const std::optional<Trap>& first_bad_access() const { return first_bad_access_; }
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
  // returns the pointer to add them to. Traps name the first lane that is wrong; in a launch that
  // keeps going, `address` of such a lane is sent to 16 bytes of its own instead. `operation` tells
  // the kinds of update apart (0: none, or one that does not commute).
  enum class Use : uint8_t { read, write, update };
  std::byte* global(const Warp& warp, const Inst& in, uint64_t* address, uint32_t mask,
                    unsigned bytes, Use use, uint8_t operation = 0);
  void check_shared(const Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask,
                    unsigned bytes, Use use);
  void check_local(Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                   bool store);
  // Reports an access the way ptxas issues it.
  void report(const Warp& warp, const Inst& in, AccessSpace space, AccessKind kind, unsigned bytes,
              uint32_t mask, const uint64_t* address, bool matrix = false,
              const uint64_t* other_side = nullptr);
  void report_raw_shared(const Warp& warp, const Inst& in, AccessKind kind, unsigned bytes,
                         uint32_t mask, const uint64_t* offset, const std::byte* values);
  void report_bad_warp_op(const Warp& warp, const Inst& in, uint32_t mask, uint32_t bad);
  void report_warp_barrier(const Warp& warp, uint32_t mask);
  void report_mbarrier_arrive(const Warp& warp, uint32_t mask, uint64_t key, bool completes) {
    for (Observer* o : observers_) o->mbarrier_arrive(warp.index(), mask, key, completes);
  }
  void report_mbarrier_wait(const Warp& warp, uint32_t mask, uint64_t key) {
    for (Observer* o : observers_) o->mbarrier_wait(warp.index(), mask, key);
  }
  void own_lane_not_named(const Warp& warp, const Inst& in, uint32_t lanes, uint32_t member_mask);

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
  // `forced`: without all that it waits for.
  void complete(uint32_t barrier, bool forced = false);
  void find_skipped_barrier(const Waiting& here, const uint32_t* lane_mask_of_warp);
  // Traps; or, in a launch that keeps going, lets one of the waiting operations go on.
  void standstill();

  // --- block_checks.cpp: what is wrong with an access, and what then ---
  struct Complaint {
    const char* kind;  // Trap::kind
    std::string message;
  };
  Complaint complain_global(const Warp& warp, int lane, uint64_t address, unsigned bytes,
                            Use use) const;
  Complaint complain_shared(const Warp& warp, int lane, uint64_t offset, unsigned bytes,
                            Use use) const;
  // Traps, or tells the observers; `complain(lane)` says what is wrong with it.
  void raise(const Warp& warp, const Inst& in, uint32_t lanes, Mistake::Kind kind,
             const std::function<Complaint(int)>& complain);
  void bad_global(const Warp& warp, const Inst& in, uint64_t* address, uint32_t lanes,
                  unsigned bytes, Use use);
  void unwritten_global(const Warp& warp, const Inst& in, const uint64_t* address, uint32_t lanes,
                        unsigned bytes, Use use);
  void bad_shared(const Warp& warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                  Use use);
  uint32_t live_threads() const;
  // Where bad accesses of shared memory go in a launch that keeps going: behind it, a piece a lane.
  static constexpr uint64_t kSinkBytes = 16;
  uint64_t shared_sink() const {
    return (launch_.shared_bytes + kSinkBytes) / kSinkBytes * kSinkBytes;
  }

  const LaunchContext& launch_;
  std::vector<Observer*> observers_, access_observers_, raw_observers_;
  OrderGuard::Worker* guard_;
  const bool checks_reads_;  // of memory that nothing wrote
  BlockInfo info_{};
  std::vector<std::unique_ptr<Warp>> warps_;
  std::vector<std::byte> shared_;
  std::array<Barrier, 16> barriers_;
  std::vector<IssueTally> tally_;
  std::vector<uint8_t> diverged_;
  std::string output_;
  uint64_t longest_warp_ = 0;
  std::array<Allocation*, 64> recent_{};  // by site: the allocation used last
  // In a launch that keeps going:
  std::vector<uint8_t> told_;  // by site: the kinds of Mistake told, a bit each
  std::optional<Trap> first_bad_access_;
  std::array<uint32_t, 32> stored_{};  // by warp: lanes that stored since their last barrier
};

}  // namespace lab32::sim
