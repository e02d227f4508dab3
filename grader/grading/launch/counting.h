// What a launch has moved, as a check counts it.
#pragma once

#include "device/device.h"

namespace lab32::grading {

struct Check;

// What a check counts. How shared accesses are grouped says nothing about global ones, nor either
// about barriers, which are never in doubt.
enum class Counted { everything, global, shared };

// Loses the check where the kernel moved data in a way that is not counted.
void demand_counted(Check& check, const device::Run& run);

// Loses the check where anything but lanes' own loads and stores moved data: for one about how they
// do, or about the time that they take, which is modelled for nothing else.
void demand_of_lanes(Check& check, const device::Run& run);

// The counters of a run for a check that counts, in which all that moved is demand: as if lanes'
// loads and stores had moved what came by the copy engine or from another block. Ends the check as
// not run where the device has none. Where those that the check needs could not be reconciled with
// what ptxas emits, they are what it emits at most; where no bound is known, the check is lost.
counters::Counters counters_of(Check& check, const device::Run& run,
                               Counted counted = Counted::everything);

}  // namespace lab32::grading
