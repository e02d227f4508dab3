// Which level of a texture a step on the screen chooses.
#pragma once

#include <cstdint>

namespace lab32::sim {

// Of no step.
constexpr int32_t kLowestLevel = -1024 * 256;

// The logarithm of a step of so many texels of the first level, in 1/256: of its first eight places
// behind the point, the rest is cut off. A step that is finite, and not negative.
int32_t level_of_step(double texels);

}  // namespace lab32::sim
