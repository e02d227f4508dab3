// The barrier of a cluster (PTX ISA, "barrier.cluster"), and who of its blocks is still there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulator/core/schedule/block.h"

namespace lab32::sim {

class ClusterBarrier final : public ClusterContext {
 public:
  ClusterBarrier(const LaunchContext& launch, bool undefined);

  // `blocks`: by rank; all have begun.
  void begin(std::vector<Block*> blocks);

  void arrive(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void wait(uint32_t rank, Warp& warp, uint32_t mask, const Inst& in) override;
  void threads_exited(uint32_t rank, bool all) override;

 private:
  // Lanes of a warp that have arrived: in the phase that lasts, or in the one before, whose end
  // they have not waited for.
  struct Lanes {
    uint32_t now = 0, before = 0;
  };
  struct Waiting {
    uint32_t rank;
    Warp* warp;
    uint32_t split, mask;
  };
  bool all_came() const;
  void complete();

  std::vector<Block*> blocks_by_rank_;
  std::vector<std::array<Lanes, 32>> lanes_;  // by rank and warp
  std::vector<Waiting> waiting_;
  uint64_t phase_ = 0;
};

}  // namespace lab32::sim
