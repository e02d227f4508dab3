// Launches that kernels ask for (dynamic parallelism). They run when the grid that asked has ended,
// which counts as complete when they are (device/sim_device.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/dim3.h"

namespace lab32::sim {

struct DeviceLaunch {
  uint64_t function = 0;    // code_address() of the kernel
  uint64_t parameters = 0;  // where they lie in device memory
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  bool tail = false;  // behind all others of its grid
};

struct DeviceLaunches {
  std::map<uint64_t, DeviceLaunch> prepared;  // by where their parameters lie
  std::vector<DeviceLaunch> launched;         // in their order
};

}  // namespace lab32::sim
