// The counters of a launch as a check uses them. counters_of() adds what all units of the GPU have
// moved, so that a kernel gains nothing by using another unit, and ends the check if it cannot
// count the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::grading {

struct Check;
struct Launch;

// Which counters a check uses. Shared accesses whose counts are uncertain do not affect a check of
// global memory, nor the other way round. Barriers can always be counted.
enum class Counted { everything, global, shared };

// Loses the check if the kernel moved data in a form that the grader cannot count.
void require_countable(Check& check, const device::LaunchResult& run);

// Loses the check if anything but loads and stores of lanes moved data. For checks about these
// accesses, and about modelled times: the model covers nothing else.
void require_only_lane_accesses(Check& check, const device::LaunchResult& run);

// The counters of a run. Traffic of the copy engine and of other blocks is included as if loads and
// stores of lanes had moved it. Ends the check as not run if the device has no counters. If ptxas
// has merged or moved accesses in a way that cannot be followed, these count as rarely as the
// machine code may issue them, and the message of a check that loses points says so.
counters::Counters counters_of(Check& check, const device::LaunchResult& run,
                               Counted counted = Counted::everything);

// ---- needless work ----

// Measures the share of the threads of a block that a launch needs: without one of them, the block
// leaves something else in memory. Tries some warps and some lanes of a block that the seed draws
// among those that change memory, and all of them if the block can do without one. `before`: the
// memory before the launch; the function leaves the memory as it is now. nullopt: the blocks that
// were drawn do not end without the others, or change nothing.
std::optional<double> measure_needed_thread_share(Check& check, device::Kernel& kernel,
                                                  const Launch& launch,
                                                  device::SavedMemory& before);

// Finds work that a kernel does beside its task, so that a later version with dummy work cannot
// pass as an earlier one. A barrier or an access to shared memory is needless if the kernel without
// it still has the right result and no hazard: nothing that reaches the output depends on it.

// The lines of a PTX text that remain without its other kernels, because each attempt parses the
// text again.
std::vector<std::string> ptx_lines_without_other_kernels(const std::string& ptx,
                                                         const std::string& symbol);
// Whether the line of PTX is a barrier of the block.
bool is_ptx_block_barrier(const std::string& line);

// The kind of instructions to remove. Before barriers, needless accesses are removed, since a
// barrier may be there only to order these.
enum class RemovableInstructions : uint8_t { barriers, shared_accesses };

struct RunWithoutNeedlessWork {
  size_t removed = 0;        // instructions of the PTX
  device::LaunchResult run;  // the launch without them; it counts accesses as the PTX has them
};

// Launches a kernel. nullopt: its result is wrong, or it has a hazard or a fault.
using TryKernel = std::function<std::optional<device::LaunchResult>(device::Kernel& kernel)>;

// Removes the instructions of that kind from the kernel's PTX, one after the other, as long as
// `attempt` succeeds without them; a removed load gives 0. nullopt: none can be removed.
std::optional<RunWithoutNeedlessWork> find_removable_instructions(Check& check,
                                                                  const std::string& kernel,
                                                                  RemovableInstructions work,
                                                                  const TryKernel& attempt);

}  // namespace lab32::grading
