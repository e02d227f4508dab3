// Timed as bytes, to be handed from the process that holds the GPU to the one that grades.
#pragma once

#include <cstddef>
#include <vector>

#include "device/timer.h"

namespace lab32::device {

std::vector<std::byte> encode(const Timed& timed);
// Throws Error when they are not what encode() makes.
Timed decode(const std::vector<std::byte>& bytes);

}  // namespace lab32::device
