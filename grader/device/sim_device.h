// The simulator as a Device.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace lab32::device {

// `profile`: the name of a file in data/devices. Throws Error when there is none of that name.
std::unique_ptr<Device> make_sim_device(const std::string& profile);

}  // namespace lab32::device
