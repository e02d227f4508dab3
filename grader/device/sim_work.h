// From what the simulator counted to what the time model asks for.
#pragma once

#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/caches/caches.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/sass/emitted.h"
#include "simulator/timing/work.h"

namespace lab32::device {

// How the caches treat each site of a program.
std::vector<counters::CacheUse> cache_uses(const sim::KernelProgram& program);

// The caches of a GPU as a launch with that occupancy finds them.
counters::CacheShape cache_shape(const model::Profile& profile, const model::Occupancy& occupancy);

// All of Work but blocks, occupancy and warm.
model::Work work_of(const sim::KernelProgram& program, const sass::EmittedFunctions& emitted,
                    const std::vector<sim::IssueTally>& tally,
                    const counters::TrafficObserver& traffic, const counters::Counters& counters,
                    const counters::CacheCounters& caches, double busiest_slice,
                    uint32_t warps_per_block);

}  // namespace lab32::device
