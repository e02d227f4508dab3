// What one warp-wide access costs, in the unit of its memory: sectors, or wavefronts.
#pragma once

#include <cstdint>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

struct AccessCost {
  uint32_t cost = 0, ideal = 0;
  uint32_t distinct = 0;   // global memory: sectors in theory (memory_l2_theoretical_sectors)
  bool estimated = false;  // by a rule that was seen to be off now and then
};

// Of an access to global or shared memory with at least one lane.
AccessCost cost_of(const sim::Access& access);

}  // namespace lab32::counters
