// Inputs with values that a wrong kernel may treat differently from others. labs/<lab>/inputs.toml
// says which of them each task allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"

namespace lab32::grading {

// Replaces one element of `values` by each of `special`, at places that are drawn. Leaves arrays
// that are shorter as they are.
template <class T>
void scatter(Random& random, std::vector<T>& values, const std::vector<T>& special) {
  const size_t part = values.size() / special.size();
  if (part == 0) return;
  for (size_t i = 0; i < special.size(); ++i)
    values[i * part + random.below(static_cast<uint32_t>(part))] = special[i];
}

// Floats of any kind but NaN, which equals nothing.
inline std::vector<float> any_floats(Random& random, size_t count) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values = random.floats(count);
  scatter(random, values,
          {0.0f, -0.0f, Limits::denorm_min(), -Limits::min() / 3, Limits::max(), Limits::lowest(),
           Limits::infinity(), -Limits::infinity()});
  return values;
}

}  // namespace lab32::grading
