// What the race check has to know of a program before it runs.
#pragma once

#include "simulator/core/execute/launch_context.h"
#include "simulator/counters/hazards.h"
#include "simulator/counters/position.h"

namespace lab32::device {

counters::HazardObserver hazard_observer(const sim::LaunchContext& launch,
                                         const counters::PositionOf& position);

}  // namespace lab32::device
