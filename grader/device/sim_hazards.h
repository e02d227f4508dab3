// What the race check has to know of a program before it runs.
#pragma once

#include <cstdint>

#include "simulator/core/execute/kernel_program.h"
#include "simulator/counters/hazards.h"
#include "simulator/counters/position.h"

namespace lab32::device {

// For launches of that program with so many bytes of shared memory a block, dynamic ones included.
counters::HazardObserver hazard_observer(const sim::KernelProgram& program, uint32_t shared_bytes,
                                         const counters::PositionOf& position);

}  // namespace lab32::device
