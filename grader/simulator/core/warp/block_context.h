// The state that the warps of a block share: shared memory, access checks, reports to observers,
// undefined values and limits. Block (schedule/block.h) derives from it and runs the warps; a warp
// is known here by its index only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulator/core/warp/access_checks.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/launch_context.h"
#include "simulator/core/warp/reports.h"
#include "simulator/core/warp/shared_memory.h"

namespace lab32::sim {

class Warp;

class BlockContext {
 public:
  const LaunchContext& launch() const { return launch_; }
  const BlockInfo& info() const { return info_; }
  SharedMemory& shared() { return shared_; }
  const SharedMemory& shared() const { return shared_; }
  ObserverNotifier& reports() { return reports_; }
  FaultTrapOrEventRaiser& faults() { return faults_; }
  AccessChecks& accesses() { return accesses_; }
  const AccessChecks& accesses() const { return accesses_; }
  // Null: the block is in no cluster.
  ClusterContext* cluster() { return shared_.cluster(); }

  // Whether the block tracks reads of memory that was never written. They are faults (or are noted)
  // if their value has an effect.
  bool checks_reads() const { return checks_reads_; }
  // Whether this is an unchecked launch of a whole program, which continues where a GPU continues.
  bool as_on_a_gpu() const { return !launch_.begins_undefined(); }
  UndefinedOrigins& undefined_origins() { return origins_; }
  // The copies to shared memory that are issued and not yet delivered.
  PendingBulkCopies& bulk_copies() {
    return cluster() != nullptr ? cluster()->bulk_copies() : bulk_copies_;
  }

  std::vector<StaticInstructionIssueCounts>& tally() { return tally_; }
  // For each site: how often the whole run of instructions that begins there (Inst::run) was
  // issued. flush_straight_line_run_counts() adds these counts to tally().
  struct StraightLineIssueCounts {
    uint64_t warps = 0, lanes = 0;
  };
  std::vector<StraightLineIssueCounts>& runs() { return runs_; }
  void flush_straight_line_run_counts();
  // How often the instruction was issued so far, including in runs.
  uint64_t issue_count_of_site(uint32_t site) const;
  // The number of instructions that each warp of the block may issue.
  uint64_t warp_budget() const { return warp_budget_; }

  const std::optional<OutOfRangeShiftOrShuffle>& out_of_range_shift_or_shuffle() const {
    return out_of_range_amount_;
  }
  void note_out_of_range_shift(uint32_t site, bool shuffle, uint32_t amount, uint32_t limit) {
    if (!out_of_range_amount_) out_of_range_amount_ = {info_.index, site, shuffle, amount, limit};
  }
  // Hands over the printf output of the last block.
  std::string take_output() { return std::move(output_); }
  void append_printf_output(const std::string& text);
  // Whether the output already exceeds the launch's limit.
  bool prints_no_more() const;
  // Drops the output of all further blocks.
  void mute() { muted_ = true; }
  // The bytes of host memory that hold the local memory of this block's warps.
  uint64_t local_bytes() const { return local_bytes_; }
  // Called before a warp's local memory grows by `more` bytes. Throws Trap at the limit.
  void charge_growth_of_local_memory(uint32_t warp, uint64_t more, bool in_call);

  // --- implemented by Block; rare ---
  // Block barriers: the warp's current split arrives, and waits until the barrier is complete.
  struct BarrierArrival {
    uint32_t barrier = 0;
    uint32_t threads = 0;  // 0: all threads that have not exited
    bool wait = true;      // false: bar.arrive
    enum class Reduce : uint8_t { none, popc, all, any } reduce = Reduce::none;
    uint32_t predicate = 0;  // lane mask
    const Inst* inst = nullptr;
  };
  virtual void arrive_at_cta_barrier(Warp& warp, uint32_t mask, std::byte* regs,
                                     const BarrierArrival& arrival) = 0;
  virtual void on_threads_exit() = 0;

 protected:
  // `observers`: this host thread's own instances. `guard`: null if the launch has none.
  // `suspects`: the words whose accesses observers want; null: none. `cluster`: null: the block is
  // in no cluster.
  BlockContext(const LaunchContext& launch, std::vector<Observer*> observers,
               SerialEquivalenceRollback::Worker* guard, const PossibleRaceDetector* suspects,
               ClusterContext* cluster, uint32_t rank);
  ~BlockContext() = default;
  BlockContext(const BlockContext&) = delete;
  BlockContext& operator=(const BlockContext&) = delete;
  void start(uint64_t index);

  const LaunchContext& launch_;
  BlockInfo info_{};
  uint64_t warp_budget_ = 0;

 private:
  const bool checks_reads_;
  std::vector<StaticInstructionIssueCounts> tally_;
  std::vector<StraightLineIssueCounts> runs_;
  ObserverNotifier reports_;
  SharedMemory shared_;
  FaultTrapOrEventRaiser faults_;
  AccessChecks accesses_;
  UndefinedOrigins origins_;
  PendingBulkCopies bulk_copies_;
  uint64_t local_bytes_ = 0;
  bool muted_ = false;
  std::string output_;
  std::optional<OutOfRangeShiftOrShuffle> out_of_range_amount_;
};

}  // namespace lab32::sim
