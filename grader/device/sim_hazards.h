// What the race check has to know of a program before it runs.
#pragma once

#include <cstdint>

#include "observers/hazards.h"
#include "observers/position.h"
#include "sim/decode.h"

namespace lab32::device {

// For launches of that program with so many bytes of shared memory a block, dynamic ones included.
observe::HazardObserver hazard_observer(const sim::KernelProgram& program, uint32_t shared_bytes,
                                        const observe::PositionOf& position);

}  // namespace lab32::device
