// A GPU through the CUDA driver API.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace lab32::device {

struct GpuSearch {
  std::unique_ptr<Device> device;  // "gpu"; null: there is none
  std::string reason;              // why not: "no CUDA driver (libcuda.so.1) on this machine"
};

// The first GPU (CUDA_VISIBLE_DEVICES decides which that is).
//
// What it gives less than the simulator: Run has no counters and no hazards, a Fault no position
// (the hardware reports the kind alone), and memory is neither guarded nor watched for
// initialisation. A kernel that never ends is not stopped: run a submission on the simulator first,
// which has a budget.
//
// A kernel's fault costs the process its GPU: the launch still reports it, then every call is an
// Error that says so (release() and destructors are allowed). Not even a new context helps within
// the process.
GpuSearch find_gpu();

}  // namespace lab32::device
