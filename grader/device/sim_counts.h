// From what the observers counted to what a Run says and the time model asks for: what depends on
// the instruction that an access belongs to, and not only on its addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/sim_trace.h"
#include "simulator/core/schedule/launch.h"
#include "simulator/core/warp/events.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/caches/caches.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/timing/time.h"

namespace lab32::device {

// Fills in what the hardware counts apart from plain loads and stores: asynchronous copies and
// matrix moves (Counters::copy and below).
void classify(const sim::KernelProgram& program, const counters::TrafficObserver& traffic,
              counters::Counters& counters);

// Why the counts of an access that was executed are not the machine code's; nullopt: they are.
// How often the machine code may issue a load or store for each time that the PTX does, at most,
// where which of its instructions stand for it is not known for that reason; nullopt: not known.
std::optional<uint32_t> max_issues(const sim::Unmatched& why, const ptx::Traits& traits);

std::optional<sim::Unmatched> ptx_level_reason(const sim::KernelProgram& program,
                                               const counters::TrafficObserver& traffic,
                                               uint32_t site, const sim::LaunchOutcome& outcome);

// How the caches treat each site of a program.
std::vector<counters::CacheUse> cache_uses(const sim::KernelProgram& program);

// The caches of a GPU as a launch with that occupancy finds them.
counters::CacheShape cache_shape(const model::Profile& profile, const model::Occupancy& occupancy);

// All of Work but blocks, occupancy and warm.
model::Work work_of(const sim::KernelProgram& program, const LaunchObservations& seen,
                    const counters::Counters& counters, const counters::CacheCounters& caches,
                    uint32_t warps_per_block);

}  // namespace lab32::device
