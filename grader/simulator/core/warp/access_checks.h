// The way of every access to memory: the shared memory of a block, what is wrong with an access,
// and the checks that find it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/core/memory/memory.h"
#include "simulator/core/memory/order_guard.h"
#include "simulator/core/undefined/undefined_bits.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/launch_context.h"
#include "simulator/core/warp/reports.h"
#include "simulator/core/warp/shared_memory.h"
#include "simulator/core/warp/trap.h"

namespace lab32::sim {

// What the block's faults are made of, and what becomes of them: a trap, or, in a launch that keeps
// going, word to the observers.
class Faults {
 public:
  Faults(const LaunchContext& launch, const BlockInfo& info, const Reports& reports);

  // Traps, or tells the observers; `facts(lane)` says what is wrong with it.
  void raise(uint32_t site, uint32_t lanes, FaultEvent::Kind kind,
             const std::function<TrapFacts(int)>& facts);
  void report_undefined_use(const UndefinedOrigin& origin, ValueUse use, uint32_t lanes);
  // The first bad access of memory that did not end the launch.
  const std::optional<Trap>& first_bad_access() const { return first_bad_access_; }

  // What is known of any fault of a warp, of a lane of it, and of an access by that lane.
  ThreadId thread_id(uint32_t warp, int lane) const;
  TrapFacts facts(TrapReason reason, uint32_t warp) const;
  TrapFacts facts(TrapReason reason, uint32_t warp, int lane) const;
  TrapFacts facts_of_access(uint32_t warp, int lane, AccessSpace space, AccessUse use,
                            unsigned bytes) const;

 private:
  const LaunchContext& launch_;
  const BlockInfo& info_;
  const Reports& reports_;
  // In a launch that keeps going:
  std::vector<uint8_t> reported_;  // by site: the kinds of FaultEvent told, a bit each
  std::optional<Trap> first_bad_access_;
};

// The parts of a block that checks need, and its host thread's guard: null where nothing is to be
// guarded.
struct CheckedBlock {
  const LaunchContext& launch;
  const BlockInfo& info;
  SharedMemory& shared;
  Reports& reports;
  Faults& faults;
  std::vector<IssueTally>& tally;
  OrderGuard::Worker* guard;
};

class AccessChecks {
 public:
  using Use = AccessUse;

  explicit AccessChecks(const CheckedBlock& block);
  // The next block begins.
  void restart() { epoch_ = 0; }
  // The whole block has passed a barrier.
  void pass_barrier() { ++epoch_; }

  // Other host threads may run blocks of this launch at the same time.
  bool guarded() const { return guard_ != nullptr; }
  bool parallel() const {
    return launch_.independent_blocks || (guard_ != nullptr && guard_->at_once());
  }

  // Checks a warp's accesses to device memory (addresses of the lanes in mask, `bytes` each) and
  // returns the pointer to add them to. Traps name the first lane that is wrong; in a launch that
  // keeps going, `address` of such a lane is sent to 16 bytes of its own instead. `operation` is
  // the kind of an update (0: none, or one that does not commute).
  std::byte* global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t mask, unsigned bytes,
                    Use use, uint8_t operation = 0);
  // The same for a whole warp: null: something is not as usual, and nothing has been done.
  std::byte* global_row(uint32_t warp, const Inst& in, const WarpRow& row, unsigned bytes, Use use);
  void shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
              Use use);

  // The lanes whose last read of device memory found bytes that nothing has written.
  uint32_t take_unwritten() { return std::exchange(unwritten_, 0); }
  TrapFacts facts_of_unwritten(uint32_t warp, int lane, AccessSpace space, uint64_t at,
                               unsigned bytes) const;

 private:
  // `meant`: the array that the instruction's other lanes, or its earlier accesses, are in.
  TrapFacts facts_of_global(uint32_t warp, int lane, uint64_t address, unsigned bytes, Use use,
                            const Allocation* meant) const;
  TrapFacts facts_of_shared(uint32_t warp, int lane, uint64_t offset, unsigned bytes,
                            Use use) const;
  void bad_global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t lanes, unsigned bytes,
                  Use use, const Allocation* meant);
  void unwritten_global(uint32_t warp, const Inst& in, const uint64_t* address, uint32_t lanes,
                        unsigned bytes);
  void bad_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                  Use use);
  void shared_of_cluster(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                         unsigned bytes, Use use);
  // What is wrong with one lane's access; nothing: it is right.
  std::optional<TrapReason> wrong_in_cluster(const Inst& in, uint64_t address,
                                             unsigned bytes) const;

  const LaunchContext& launch_;
  const BlockInfo& info_;
  SharedMemory& shared_;
  Reports& reports_;
  Faults& faults_;
  std::vector<IssueTally>& tally_;
  OrderGuard::Worker* const guard_;
  ClusterContext* const cluster_;
  const bool checks_reads_;
  uint32_t epoch_ = 0;      // barriers that the whole block has passed
  uint32_t unwritten_ = 0;  // take_unwritten()
  struct Recent {
    uint32_t site = 0;
    Allocation* allocation = nullptr;
  };
  std::array<Recent, 64> recent_{};  // by site: the allocation used last
};

}  // namespace lab32::sim
