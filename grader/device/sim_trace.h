// How often a launch ran each block of the machine code, and the way of its warps through it, with
// what memory did with each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "simulator/core/warp/events.h"
#include "simulator/core/warp/kernel_program.h"
#include "simulator/observers/caches/caches.h"
#include "simulator/observers/traffic/traffic.h"
#include "simulator/sass/emitted.h"
#include "simulator/timing/time.h"
#include "simulator/timing/warp_paths.h"

namespace lab32::device {

// One function of a program, and how often each of its instructions was issued.
struct FunctionIssueCounts {
  const sim::CodeFunction* function = nullptr;
  size_t first_site = 0;
  std::vector<uint64_t> times;
  std::vector<uint64_t> rounds;  // of the loop of compare-and-swap that ptxas made of it
};
std::vector<FunctionIssueCounts> issue_counts_by_function(const sim::KernelProgram& program,
                                                          const std::vector<sim::IssueTally>& tally,
                                                          const counters::TrafficObserver& traffic);

// How often the block runs, over all warps.
double runs(const sass::EmittedBlock& block, const FunctionIssueCounts& function);

// What the observers of a launch saw.
struct LaunchObservations {
  const sass::EmittedFunctions& emitted;
  const std::vector<sim::IssueTally>& tally;
  const counters::TrafficObserver& traffic;
  const counters::CacheObserver& caches;
};

// The group (CacheUse::group) of each site.
std::vector<uint8_t> load_groups(const sim::KernelProgram& program);

// `units`: out, the sum of the accesses' weights over all warps.
model::WarpTrace warp_trace(const sim::KernelProgram& program, const LaunchObservations& source,
                            const model::Work& work, double warps, double* units);

}  // namespace lab32::device
