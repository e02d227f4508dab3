// How the blocks of a cluster use each other's shared memory. To the race check they are one block:
// warps and bytes are numbered through, rank by rank. Kept here besides: an access to another
// block's memory must come after that block has started and before it ends, by the order that
// barriers make (CUDA programming guide, "Distributed Shared Memory").
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/observers/races/happens_before.h"
#include "simulator/observers/races/hazard.h"

namespace lab32::counters {

class ClusterUse {
 public:
  // The cluster's barrier, beside those in shared memory, and as the next phase of it.
  static constexpr uint64_t kBarrier = uint64_t{1} << 62;

  explicit ClusterUse(const sim::BlockInfo& first);
  void join(const sim::BlockInfo& block);
  // All have begun; what comes from now on is stamped behind it.
  void started(const HappensBefore& order) { start_ = order.block_start(); }

  uint32_t threads() const { return blocks_count_ * warps_ * 32; }
  uint32_t shared_bytes() const { return blocks_count_ * stride_; }
  // Bytes from one block's shared memory to the next one's.
  uint32_t stride() const { return stride_; }

  // Lanes have seen the end of a phase of the cluster's barrier: all blocks have started.
  void met(uint32_t warp, uint32_t mask) { met_[warp] |= mask; }
  // What is wrong with it is kept until end_of(): before its start, or not before its end.
  struct Early {
    uint32_t site, lanes;
    sim::TrapFacts facts;
  };
  void access(const HappensBefore& order, uint32_t warp, const sim::RawAccess& access);
  // The block has ended.
  std::vector<Early> end_of(const HappensBefore& order, uint32_t rank);

  // From numbers of the cluster to those of blocks.
  void describe(Hazard& hazard) const;

 private:
  struct Remote {
    uint32_t stamp, lanes;
    uint64_t offset;
    uint8_t bytes;
    Use use;
  };
  uint32_t rank_of_warp(uint32_t warp) const { return warp / warps_; }
  sim::TrapFacts facts(sim::TrapReason reason, uint32_t warp, uint32_t lane, uint32_t owner,
                       const Remote& remote) const;
  // Does some thread of the block know of it?
  bool known_to(const HappensBefore& order, uint32_t rank, uint32_t thread, uint32_t stamp) const;

  uint32_t blocks_count_, warps_, stride_;
  uint32_t start_ = 0;
  std::vector<sim::BlockInfo> blocks_;  // by rank
  std::vector<uint32_t> met_;           // by warp
  // By warp and owner: lanes that are known to come after its start.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> after_start_;
  // By owner, warp and site.
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::vector<Remote>> remote_;
  std::vector<Early> before_start_;
};

}  // namespace lab32::counters
