// Clocks and throttling of a GPU, read through NVML: a time is worth little if the card changed
// speed while it was taken.
#pragma once

#include <optional>

#include "gpu/driver_api.h"
#include "gpu/timer.h"

namespace lab32::device {

// Of the GPU with this UUID, now. nullopt: no NVML on this machine, or it does not know.
std::optional<Clocks> read_clocks(const cuda::Uuid& uuid);

}  // namespace lab32::device
