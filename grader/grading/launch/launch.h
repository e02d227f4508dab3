// Launching a student's kernel: what goes wrong in it becomes the verdict of the check.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device/device.h"
#include "grading/launch/launch_spec.h"

namespace lab32::grading {

constexpr uint32_t kWarp = 32;  // lanes

// Runs it. The check is lost, with the reason, when the module has no such kernel, when the kernel
// faults, when it changes what it may only read, and when it holds a race or another hazard.
device::Run run(const Launch& launch);

// A launch of which only counts or time are wanted, since nothing is wrong with its kernel: a given
// one that calls nothing of the submission's, or one that other checks have judged. Races, values
// that nobody wrote and inputs that it changes are not looked for.
device::Run run_to_count(const Launch& launch);

// A launch in the submission as it was loaded, without verdicts: no earlier launch has left
// anything in its `__device__` variables. False where the kernel does not end well, or is not
// there.
bool run_afresh(const Launch& launch);

// For a check that judges each launch before it makes the next one: ends it where it has been run
// again only for a launch in another order of blocks and warps, which was right now, too.
void end_if_judged();

// What a check counts. How shared accesses are grouped says nothing about global ones, nor either
// about barriers, which are never in doubt.
enum class Counted { everything, global, shared };

// Loses the check where the kernel moved data in a way that is not counted.
void demand_counted(const device::Run& run);

// Loses the check where anything but lanes' own loads and stores moved data: for one about how they
// do, or about the time that they take, which is modelled for nothing else.
void demand_of_lanes(const device::Run& run);

// The counters of a run for a check that counts, in which all that moved is demand: as if lanes'
// loads and stores had moved what came by the copy engine or from another block. Ends the check as
// not run where the device has none. Where those that the check needs could not be reconciled with
// what ptxas emits, they are what it emits at most; where no bound is known, the check is lost.
counters::Counters counters_of(const device::Run& run, Counted counted = Counted::everything);

constexpr uint32_t ceil_div(uint64_t a, uint64_t b) {
  return static_cast<uint32_t>((a + b - 1) / b);
}

// Blocks for n items, one at least: a grid of none cannot be launched.
inline uint32_t blocks_for(uint64_t n, uint32_t per_block) {
  return n == 0 ? 1 : ceil_div(n, per_block);
}

}  // namespace lab32::grading
