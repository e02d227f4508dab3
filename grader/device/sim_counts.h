// Derives counters and the time model's input from what the observers counted, where the result
// depends on the kind of instruction and not only on its addresses. Sites are indices into the
// program's list of instructions.
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

// Adds the counters of asynchronous copies and matrix moves, which the hardware counts separately
// (Counters::copy and below).
void add_copy_and_ldmatrix_counters(const sim::KernelProgram& program,
                                    const counters::TrafficObserver& traffic,
                                    counters::Counters& counters);

// Why the counts of the site are those of the PTX; nullopt: they are the machine code's.
std::optional<sim::AccessWithoutSassMatch> reason_for_ptx_counts(
    const sim::KernelProgram& program, const counters::TrafficObserver& traffic, uint32_t site,
    const sim::LaunchOutcome& outcome);

// How the caches treat each instruction of a program, by site.
std::vector<counters::CacheTreatmentOfInstruction> cache_treatment_by_site(
    const sim::KernelProgram& program);

// The sizes of a GPU's caches for a launch with that occupancy.
counters::CacheHierarchyConfig cache_shape(const model::DeviceProfile& profile,
                                           const model::Occupancy& occupancy);

// Computes all fields of LaunchWorkCounts except blocks, occupancy and warm.
model::LaunchWorkCounts launch_work_counts_of(const sim::KernelProgram& program,
                                              const LaunchObservations& seen,
                                              const counters::Counters& counters,
                                              const counters::CacheCounters& caches,
                                              uint32_t warps_per_block);

}  // namespace lab32::device
