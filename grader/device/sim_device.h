// The simulator as a Device (device.h). A profile in data/devices describes the GPU that it models.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "device/device.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

namespace lab32::device {

// The number of host threads for a launch, from LAB32_THREADS; 0: one per core. Throws MachineError
// if the variable is no such number.
unsigned requested_host_threads();

// `profile` is the name of a file in data/devices. Throws Error if there is none.
std::unique_ptr<Device> make_sim_device(const std::string& profile);
// Uses the caller's memory, which the caller copies, fills and shares; it must outlive the device.
std::unique_ptr<Device> make_sim_device(const model::DeviceProfile& profile, sim::Memory& memory);

// The result of LoadedModule::refusals() for a module that is not loaded: symbol -> why the kernel
// cannot run. Throws Error for invalid PTX.
std::map<std::string, std::string> unsupported_kernels_of(const std::string& ptx);

}  // namespace lab32::device
