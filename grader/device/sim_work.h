// From what the simulator counted to what the time model asks for.
#pragma once

#include <vector>

#include "model/work.h"
#include "observers/cache_counters.h"
#include "observers/caches.h"
#include "observers/counters.h"
#include "sass/emitted.h"
#include "sim/decode.h"
#include "sim/events.h"

namespace lab32::device {

// How the caches treat each site of a program.
std::vector<observe::CacheUse> cache_uses(const sim::KernelProgram& program);

// The caches of a GPU as a launch with that occupancy finds them.
observe::CacheShape cache_shape(const model::Profile& profile, const model::Occupancy& occupancy);

// All of Work but blocks, occupancy, warm and shared_spins.
model::Work work_of(const sim::KernelProgram& program, const sass::EmittedFunctions& emitted,
                    const std::vector<sim::IssueTally>& tally, const observe::Counters& counters,
                    const observe::CacheCounters& caches, double busiest_slice,
                    uint32_t warps_per_block);

}  // namespace lab32::device
