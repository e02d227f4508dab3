// The way of a launch's warps through the machine code, with what memory did with each access.
#pragma once

#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/caches/caches.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/sass/emitted.h"
#include "simulator/timing/warp_trace.h"
#include "simulator/timing/work.h"

namespace lab32::device {

// What the trace is made of, but the program.
struct TraceSource {
  const sass::EmittedFunctions& emitted;
  const std::vector<sim::IssueTally>& tally;
  const counters::TrafficObserver& traffic;
  const counters::CacheObserver& caches;
};

// The group (CacheUse::group) of each site.
std::vector<uint8_t> load_groups(const sim::KernelProgram& program);

// `units`: out, the sum of the accesses' weights over all warps.
model::WarpTrace warp_trace(const sim::KernelProgram& program, const TraceSource& source,
                            const model::Work& work, double warps, double* units);

}  // namespace lab32::device
