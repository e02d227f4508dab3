// What the race check has to know of a program before it runs.
#pragma once

#include "simulator/core/warp/launch_context.h"
#include "simulator/observers/counters.h"
#include "simulator/observers/races/hazards.h"

namespace lab32::device {

counters::HazardObserver hazard_observer(const sim::LaunchContext& launch,
                                         const counters::PositionOf& position);

}  // namespace lab32::device
