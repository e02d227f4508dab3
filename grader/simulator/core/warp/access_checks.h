// Checks every memory access: for bounds and alignment, for null, freed and read-only memory, and
// for reads of memory that was never written. AccessChecks finds a faulty access;
// FaultTrapOrEventRaiser raises a trap for it, or reports it to the observers in a launch that
// keeps going.
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

// Collects the facts of a block's faults. A fault becomes a trap, or an event for the observers in
// a launch that keeps going.
class FaultTrapOrEventRaiser {
 public:
  FaultTrapOrEventRaiser(const LaunchContext& launch, const BlockInfo& info,
                         const ObserverNotifier& reports);

  // Traps, or reports the fault to the observers. `facts(lane)` describes the fault of a lane.
  void trap_or_report(uint32_t site, uint32_t lanes, FaultEvent::Kind kind,
                      const std::function<TrapFacts(int)>& facts);
  void report_undefined_use(const UndefinedOrigin& origin, ValueUse use, uint32_t lanes);
  // The first faulty memory access that did not end the launch.
  const std::optional<Trap>& first_bad_access() const { return first_bad_access_; }
  // The first use of memory that was never written, in a launch that notes it.
  const std::optional<Trap>& first_uninitialised() const { return first_uninitialised_; }

  // The facts that every fault of a warp has, of one lane of it, and of an access by that lane.
  BlockAndThreadIndex thread_id(uint32_t warp, int lane) const;
  TrapFacts facts(TrapReason reason, uint32_t warp) const;
  TrapFacts facts(TrapReason reason, uint32_t warp, int lane) const;
  TrapFacts facts_of_access(uint32_t warp, int lane, AccessSpace space, AccessUse use,
                            unsigned bytes) const;

 private:
  const LaunchContext& launch_;
  const BlockInfo& info_;
  const ObserverNotifier& reports_;
  // For a launch that continues after faults: for each site a bit per kind of FaultEvent reported.
  std::vector<uint8_t> reported_;
  std::optional<Trap> first_bad_access_, first_uninitialised_;
};

// The parts of a block that the checks need, and its host thread's guard (null: the launch has
// none).
struct AccessCheckDependencies {
  const LaunchContext& launch;
  const BlockInfo& info;
  SharedMemory& shared;
  ObserverNotifier& reports;
  FaultTrapOrEventRaiser& faults;
  std::vector<StaticInstructionIssueCounts>& tally;
  SerialEquivalenceRollback::Worker* guard;
};

class AccessChecks {
 public:
  using Use = AccessUse;

  explicit AccessChecks(const AccessCheckDependencies& block);
  // Resets the state for the next block.
  void reset_for_next_block() { epoch_ = 0; }
  // Called when the whole block has passed a barrier.
  void pass_barrier() { ++epoch_; }

  // runs_in_parallel(): other host threads may run blocks of this launch at the same time.
  bool guarded() const { return guard_ != nullptr; }
  bool runs_in_parallel() const {
    return launch_.independent_blocks || (guard_ != nullptr && guard_->at_once());
  }

  // Checks a warp's accesses to device memory (addresses of the lanes in mask, `bytes` each) and
  // returns the pointer to add them to. Traps name the first faulty lane. In a launch that keeps
  // going, `address` of a faulty lane is redirected to 16 bytes of its own. `operation` is the kind
  // of a commuting update (0: no update, or one that does not commute).
  std::byte* check_global(uint32_t warp, const Inst& in, uint64_t* address, uint32_t mask,
                          unsigned bytes, Use use, uint8_t operation = 0);
  // As check_global(), for a whole warp with regular addresses. Null: the fast path does not apply
  // and nothing was done.
  std::byte* try_check_global_strided(uint32_t warp, const Inst& in, const StridedHalfWarpPair& row,
                                      unsigned bytes, Use use);
  void check_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask, unsigned bytes,
                    Use use);

  // The lanes whose last read of device memory found bytes that were never written.
  uint32_t take_unwritten() { return std::exchange(unwritten_, 0); }
  // The facts of a read, by the instruction `site`, of bytes that were never written.
  TrapFacts facts_of_unwritten_read(uint32_t site, uint32_t warp, int lane, AccessSpace space,
                                    uint64_t at, unsigned bytes) const;

 private:
  // The array to which the instruction's pointer belongs, by the kernel's parameters; nullptr: not
  // known.
  const Allocation* allocation_of_pointer(uint32_t site) const;
  // `meant`: the array that the instruction's other lanes or its earlier accesses use, which the
  // student most likely meant if the pointer's own array is not known.
  TrapFacts facts_of_global_access(uint32_t site, uint32_t warp, int lane, uint64_t address,
                                   unsigned bytes, Use use, const Allocation* meant) const;
  const SharedVariable* shared_variable_of(const Inst& in) const;
  TrapFacts facts_of_shared_access(uint32_t warp, int lane, uint64_t offset, unsigned bytes,
                                   Use use, const Inst& in) const;
  void report_bad_global_access(uint32_t warp, const Inst& in, uint64_t* address, uint32_t lanes,
                                unsigned bytes, Use use, const Allocation* meant);
  void report_unwritten_global_update(uint32_t warp, const Inst& in, const uint64_t* address,
                                      uint32_t lanes, unsigned bytes);
  void report_bad_shared_access(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                                unsigned bytes, Use use);
  void check_cluster_shared(uint32_t warp, const Inst& in, uint64_t* offset, uint32_t mask,
                            unsigned bytes, Use use);
  // Whether the bytes are in the instruction's variable; if that is unknown, in the block's shared
  // memory, or in what the system reserves.
  bool is_in_accessible_shared(const Inst& in, uint64_t offset, unsigned bytes) const;
  // The fault of one lane's access to the cluster's shared memory; nullopt if the access is valid.
  std::optional<TrapReason> cluster_access_fault(const Inst& in, uint64_t address,
                                                 unsigned bytes) const;

  const LaunchContext& launch_;
  const BlockInfo& info_;
  SharedMemory& shared_;
  ObserverNotifier& reports_;
  FaultTrapOrEventRaiser& faults_;
  std::vector<StaticInstructionIssueCounts>& tally_;
  SerialEquivalenceRollback::Worker* const guard_;
  ClusterContext* const cluster_;
  const bool checks_reads_;
  uint32_t epoch_ = 0;      // the number of barriers that the whole block has passed
  uint32_t unwritten_ = 0;  // take_unwritten()
  struct RecentAllocation {
    uint32_t site = 0;
    Allocation* allocation = nullptr;
  };
  std::array<RecentAllocation, 64> recent_{};  // by site: the allocation used last
};

}  // namespace lab32::sim
