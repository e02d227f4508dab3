// `lab32 doctor`: what grading needs of a machine, what is there, and what brings the rest.
#pragma once

#include <string>

namespace lab32::device {

struct Findings {
  std::string text;        // one screen
  bool can_grade = false;  // at all; what else is missing makes it less safe or less exact
};
Findings examine();

}  // namespace lab32::device
