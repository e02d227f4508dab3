// Finds what is wrong with a kernel's use of shared memory although it may give the right result:
// races, reads of what the block never wrote, shuffles and votes among absent lanes. And it keeps
// what the simulator found wrong itself, where a launch keeps going. RaceCheck has the rules. This
// observer spares it the blocks that do what an earlier block did.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/block_trace.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/race_check.h"

namespace lab32::counters {

class HazardObserver : public sim::Observer {
 public:
  // granule: 4, or 2 or 1 where the kernel accesses shared memory in pieces that small. Accesses
  // are then compared word by word, or byte by byte.
  // named_barriers: may a barrier concern some warps of the block only? If not, two warps are
  // enough to remember for each word and way of touching it: a third that touches it in conflict
  // differs from one of them.
  HazardObserver(uint32_t granule, bool named_barriers, std::vector<sim::SharedVariable> variables,
                 PositionOf position);

  std::unique_ptr<sim::Observer> fork() const override;
  void merge(sim::Observer& other) override;
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void raw_shared(uint32_t warp, const sim::RawAccess& access) override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) override;
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) override;
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                      bool completes) override;
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) override;
  void join_cluster(sim::Observer& first) override;
  void bad_warp_op(uint32_t warp, uint32_t site, uint32_t mask, uint32_t bad) override;
  void fault(const sim::FaultEvent& fault) override;
  bool wants_raw_shared() const override { return true; }

  // One for each kind and pair of source lines (races) or line, sorted by file, line, other line.
  // A note is left out where the same lines race in earnest. Ends a block that is under way.
  std::vector<Finding> findings();

 private:
  // Blocks of a cluster are checked together, by the observer of its first one: as one block
  // (outside_use.h). They are not followed along a trace.
  bool in_cluster() const { return first_ != nullptr; }
  RaceCheck& checker() { return in_cluster() ? first_->check_ : check_; }
  uint32_t warp_in_cluster(uint32_t warp) const;
  sim::RawAccess in_cluster(const sim::RawAccess& access, uint64_t* address) const;
  void begin_in_cluster(const sim::BlockInfo& block);
  void end_in_cluster(bool stopped);
  // The block under way has no end of its own: the launch was stopped.
  void close();

  // What findings of a block depend on is its trace: who touched what, and met whom, in which
  // order; stored values matter to a race of two stores only. Nearly all blocks of a kernel have
  // the same trace up to its end. So the present block is followed along a kept trace, unchecked;
  // where it departs from all kept ones, its beginning is told to the check, and the rest is
  // checked and recorded.
  enum class Mode : uint8_t { none, following, recording, checking };
  struct Kept {
    BlockTrace trace;
    RaceCheck::Effects effects;
    bool usable = false;
    uint64_t last_use = 0;
  };

  bool follows(const BlockTrace::Event& event, const uint64_t* row, const std::byte* values);
  bool turn_to_another(const BlockTrace::Event& event, const uint64_t* row);
  void depart();
  Kept& oldest();

  std::vector<sim::SharedVariable> variables_;
  PositionOf position_;
  RaceCheck check_;
  sim::BlockInfo block_{};
  Mode mode_ = Mode::none;
  std::array<Kept, 4> kept_;
  Kept* own_ = nullptr;  // followed, or recorded
  BlockTrace::Cursor at_;
  std::vector<std::byte> values_;  // that the present block has stored while it followed
  uint64_t blocks_ = 0;
  HazardObserver* first_ = nullptr;
  bool open_ = false;     // in a cluster: the block is under way
  uint32_t members_ = 0;  // of the first one: those under way
  uint32_t in_vain_ = 0;  // traces recorded since a block last followed one
  uint32_t rest_ = 0;     // blocks to check before a trace is followed or recorded again
};

}  // namespace lab32::counters
