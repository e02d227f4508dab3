// Which way each warp takes through the machine code: how often its blocks run is known on the mean
// only, and how many instructions each warp issued.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/timing/blocks_at_work.h"
#include "simulator/timing/warp_trace.h"

namespace lab32::model {

class Ways {
 public:
  // Both must outlive this.
  Ways(const WarpTrace& trace, const BlocksAtWork& work);

  // The blocks that warp w of this block runs, one after the other.
  std::vector<uint16_t> way(uint64_t block, uint32_t w) const;

 private:
  double of_warp(uint64_t block, uint32_t w) const;
  double length(const std::vector<uint16_t>& way) const;
  Standing standing(uint64_t number) const;

  const WarpTrace& trace_;
  const BlocksAtWork& work_;
  double mean_ = 0, in_loops_ = 0;  // instructions of the trace
  double mean_issued_ = 0;
  bool meets_in_loop_ = false;
  struct Alike {
    uint32_t issued = 0;
    double more = 0, equal = 0;  // shares of the warps
  };
  std::vector<Alike> alike_;   // by what they issued, the most first
  std::vector<uint32_t> nth_;  // of each warp, among those that issued as much
};

}  // namespace lab32::model
