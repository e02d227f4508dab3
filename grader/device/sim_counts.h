// Counters that depend on what instruction an access belongs to, not only on its addresses.
#pragma once

#include <cstdint>
#include <optional>

#include "simulator/core/schedule/launch.h"
#include "simulator/core/warp/instruction.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/traffic/traffic.h"

namespace lab32::device {

// Fills in what the hardware counts apart from plain loads and stores: asynchronous copies and
// matrix moves (Counters::copy and below).
void classify(const sim::KernelProgram& program, const counters::TrafficObserver& traffic,
              counters::Counters& counters);

// Why the counts of an access that was executed are not the machine code's; nullopt: they are.
// How often the machine code may issue a load or store for each time that the PTX does, at most,
// where which of its instructions stand for it is not known for that reason; nullopt: not known.
std::optional<uint32_t> most_issues(const sim::Unmatched& why, const ptx::Traits& traits);

std::optional<sim::Unmatched> why_ptx_level(const sim::KernelProgram& program,
                                            const counters::TrafficObserver& traffic, uint32_t site,
                                            const sim::LaunchOutcome& outcome);

}  // namespace lab32::device
