// Compares an output with its expected values, in the type of its elements.
#pragma once

#include <string>
#include <vector>

#include "grading/declared/elements.h"

namespace lab32::grading {

// As mismatch() of launch/arrays.h: empty if all values are equal.
std::string elements_mismatch(const std::string& name, const std::vector<std::byte>& got,
                              const Elements& want, double relative_tolerance);

}  // namespace lab32::grading
