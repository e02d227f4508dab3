// The counters of a launch as a check uses them. counters_of() adds what all units of the GPU have
// moved, so that a kernel gains nothing by using another unit, and ends the check if it cannot
// count the kernel.
#pragma once

#include "device/device.h"

namespace lab32::grading {

struct Check;

// Which counters a check uses. Uncertain shared accesses do not spoil a check of global ones, and
// the other way round; barriers can always be counted.
enum class Counted { everything, global, shared };

// Loses the check if the kernel moved data in a form that the grader cannot count.
void require_countable(Check& check, const device::Run& run);

// Loses the check if anything but loads and stores of lanes moved data. For checks about these
// accesses, and about modelled times: the model covers nothing else.
void require_lane_accesses(Check& check, const device::Run& run);

// The counters of a run. Traffic of the copy engine and of other blocks is included as if loads and
// stores of lanes had moved it. Ends the check as not run if the device has no counters. If ptxas
// has changed the accesses, the result is an upper bound of what it emits; without a bound, the
// check is lost.
counters::Counters counters_of(Check& check, const device::Run& run,
                               Counted counted = Counted::everything);

}  // namespace lab32::grading
