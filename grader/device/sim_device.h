// The simulator as a Device.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "device/device.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

namespace lab32::device {

// LAB32_THREADS: of the host, for a launch, where many submissions are graded at a time. 0: all.
// Throws MachineError where it is no such number.
unsigned host_threads();

// `profile`: the name of a file in data/devices. Throws Error when there is none of that name.
std::unique_ptr<Device> make_sim_device(const std::string& profile);
// On memory of the caller's, who copies, fills and shares it himself; it must outlive the device.
std::unique_ptr<Device> make_sim_device(const model::Profile& profile, sim::Memory& memory);

// LoadedModule::refusals() of a module that is not loaded. Throws Error for PTX that is wrong.
std::map<std::string, std::string> refusals_of(const std::string& ptx);

}  // namespace lab32::device
