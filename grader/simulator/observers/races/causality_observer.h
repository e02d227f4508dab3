// The base of observers that follow the causality order of a launch (happens_before.h): it forwards
// the events that build this order, from all blocks, which run on one host thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/core/memory/memory.h"
#include "simulator/core/warp/events.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/finding.h"
#include "simulator/observers/races/happens_before.h"

namespace lab32::counters {

class CausalityObserverBase : public sim::Observer {
 public:
  void merge(sim::Observer&) override {}
  void block_begin(const sim::BlockInfo& block) override;
  void block_end() override;
  void block_barrier(const uint32_t* lane_mask_of_warp, uint32_t warps, bool whole_block) override;
  void warp_barrier(uint32_t warp, uint32_t mask) override;
  void mbarrier_arrive(uint32_t warp, uint32_t mask, uint64_t key, bool completes) override;
  void mbarrier_wait(uint32_t warp, uint32_t mask, uint64_t key) override;
  void cluster_arrive(uint32_t warp, uint32_t mask, uint64_t phase, bool releases,
                      bool completes) override;
  void cluster_wait(uint32_t warp, uint32_t mask, uint64_t phase) override;
  void fence(uint32_t warp, uint32_t mask, uint32_t site, const ptx::MemoryOrder& order) override;

 protected:
  // Keys of strong accesses that are not addresses of device memory: barriers of clusters,
  // mbarriers that a cluster shares, sequentially consistent fences, and words of shared memory.
  static constexpr uint64_t kClusterKeys = uint64_t{1} << 62, kMbarrierKeys = uint64_t{1} << 61,
                            kFenceKeys = uint64_t{1} << 60, kSharedKeys = uint64_t{1} << 59;

  // Shared by all forks.
  struct SharedCausality {
    std::unique_ptr<Causality> causality = std::make_unique<Causality>();
    sim::BlockInfo shape{};  // all blocks have this shape
  };
  // `follows`: whether the observer builds the order from the beginning. GlobalMemoryRaceObserver
  // builds it only in the second run of a launch.
  CausalityObserverBase(std::shared_ptr<SharedCausality> order, bool follows)
      : order_(std::move(order)), follows_(follows) {}
  Causality& causality() const { return *order_->causality; }
  GridThread thread(uint32_t warp, uint32_t lane) const { return {block_, warp * 32 + lane}; }

  std::shared_ptr<SharedCausality> order_;
  bool follows_;
  uint64_t block_ = 0;
  uint64_t cluster_ = 0, in_cluster_ = 0;  // number of the cluster, and its blocks (0: no cluster)
};

// A pair of accesses to device memory at `address`, as a finding with their places in the grid and
// in the source. `update` is set if both have one line.
struct AccessOfThread {
  GridThread by;
  uint32_t site = 0;
  sim::AccessKind kind = sim::AccessKind::load;
  uint8_t bytes = 0;
};
Finding finding_of_pair(const AccessOfThread& earlier, const AccessOfThread& later,
                        uint64_t address, const sim::BlockInfo& shape, const sim::Memory& memory,
                        const PositionOf& position);

}  // namespace lab32::counters
