// A kernel's parameters, against what the grader calls it with.
#pragma once

#include <string>
#include <vector>

#include "device/device.h"

namespace lab32::grading {

// Ends the check where parameters are no longer as given: by the name of each, before a launch
// reads a number as an address or the output as the input. What C++ cannot tell apart passes.
// `setting`: of the launch, as in its failure.
void check_parameters(const device::KernelInfo& kernel, const std::vector<device::Arg>& args,
                      const std::string& setting);

}  // namespace lab32::grading
