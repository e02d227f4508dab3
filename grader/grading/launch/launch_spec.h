// What a check launches.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::grading {

struct Launch {
  std::string kernel;  // "scale", "reduce_v6<256>"
  device::Shape shape;
  std::vector<device::Arg> args;
  std::string setting;  // what distinguishes this launch of several: "n = 33"
  device::LaunchOptions::Model model = device::LaunchOptions::Model::none;
  bool other_order = true;  // tried in another one, too, where the check is one of results
  // A function of the submission's says where a given kernel's accesses lie: they are drawn.
  bool draws_given = false;
  // Else only what ended it is: what it reads are the grader's tables, for functions that answer,
  // or another check draws its kernel.
  bool drawn = true;
};

}  // namespace lab32::grading
