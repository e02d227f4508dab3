// One launch that several checks of a grading look at: what they count is the same.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "grading/engine/session.h"

namespace lab32::grading {

// The run of `kernel` that `make` launches, and whose result `make` judges. The first check that
// asks for `key` makes it; each later one has asked the module for the kernel all the same, so that
// it counts as one that depends on it (alike.h). A check that is judged by another order of blocks
// (other_order.h) makes its own.
std::shared_ptr<const device::Run> shared_launch(const std::string& key, const std::string& kernel,
                                                 const std::function<device::Run()>& make);

}  // namespace lab32::grading
