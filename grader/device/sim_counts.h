// Counters that depend on what instruction an access belongs to, not only on its addresses.
#pragma once

#include <cstdint>
#include <string>

#include "observers/counters.h"
#include "observers/traffic.h"
#include "sim/launch.h"
#include "sim/program.h"

namespace lab32::device {

// Fills in what the hardware counts apart from plain loads and stores: asynchronous copies and
// matrix moves (Counters::copy and below).
void tell_apart(const sim::KernelProgram& program, const observe::TrafficObserver& traffic,
                observe::Counters& counters);

// Rounds of the loops that ptxas makes of shared atomics which the hardware does not have.
uint64_t spin_rounds(const sim::KernelProgram& program, const observe::TrafficObserver& traffic);

// Why the counts of an access that was executed are not the machine code's; empty: they are.
std::string why_ptx_level(const sim::KernelProgram& program,
                          const observe::TrafficObserver& traffic, uint32_t site,
                          const sim::LaunchOutcome& outcome);

}  // namespace lab32::device
