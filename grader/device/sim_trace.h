// Builds the input of the time model's multiprocessor: how often a launch ran each block of the
// machine code, the path of its warps through it, and what memory did for each access.
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

// One function of a program, and the number of times that each of its instructions was issued.
struct FunctionIssueCounts {
  const sim::DecodedFunction* function = nullptr;
  size_t first_site = 0;
  std::vector<uint64_t> times;
  // The number of iterations of the compare-and-swap loop that ptxas made of each instruction.
  std::vector<uint64_t> rounds;
};
std::vector<FunctionIssueCounts> issue_counts_by_function(
    const sim::KernelProgram& program, const std::vector<sim::StaticInstructionIssueCounts>& tally,
    const counters::TrafficObserver& traffic);

// The number of times that the block runs, summed over all warps.
double runs_by_all_warps(const sass::EmittedSassBlock& block, const FunctionIssueCounts& function);

// The results of the observers of a launch.
struct LaunchObservations {
  const sass::SassBlocksByFunction& emitted;
  const std::vector<sim::StaticInstructionIssueCounts>& tally;
  const counters::TrafficObserver& traffic;
  const counters::CacheReplayObserver& caches;
};

// The load group of each site (CacheTreatmentOfInstruction::group).
std::vector<uint8_t> load_counter_slot_by_site(const sim::KernelProgram& program);

// `units` receives the sum of the weights of the accesses over all warps.
model::AverageWarpTrace build_warp_trace(const sim::KernelProgram& program,
                                         const LaunchObservations& source,
                                         const model::LaunchWorkCounts& work, double warps,
                                         double* units);

}  // namespace lab32::device
