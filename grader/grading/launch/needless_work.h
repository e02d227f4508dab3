// Finds work that a kernel does beside its task, so that dummy work cannot pass as a step. A
// barrier or an access to shared memory is needless if the kernel without it still has the right
// result and no hazard: nothing that reaches the output depends on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "device/device.h"

namespace lab32::grading {

struct Check;

// Needless barriers are those that are left without needless accesses, which they may order.
enum class Work : uint8_t { barriers, shared_accesses };

struct WithoutNeedless {
  size_t removed = 0;  // instructions of the PTX
  device::Run run;     // of the kernel without them; its counts are those of the PTX
};

// Launches a kernel. nullopt: its result is wrong, or it has a hazard or a fault.
using TryKernel = std::function<std::optional<device::Run>(device::Kernel& kernel)>;

// Removes the instructions of that kind from the kernel's PTX, one after the other, as long as
// `attempt` succeeds without them; a removed load gives 0. nullopt: none can be removed.
std::optional<WithoutNeedless> without_needless(Check& check, const std::string& kernel, Work work,
                                                const TryKernel& attempt);

}  // namespace lab32::grading
