// Launches that kernels ask for (dynamic parallelism). They run when the grid that asked has ended,
// which counts as complete when they are (device/sim_device.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/dim3.h"

namespace lab32::sim {

// A copy or a fill in the place of a kernel.
struct DeviceCopy {
  uint64_t to = 0, from = 0, bytes = 0;
  int value = -1;  // of each byte; -1: a copy
};

struct DeviceLaunch {
  uint64_t function = 0;    // code_address() of the kernel; 0: a copy
  uint64_t parameters = 0;  // where they lie in device memory
  DeviceCopy copy;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  bool tail = false;  // behind all others of its grid
};

struct DeviceLaunches {
  std::map<uint64_t, DeviceLaunch> prepared;  // by where their parameters lie
  std::vector<DeviceLaunch> launched;         // in their order
  // Streams and events that kernels make are numbers from the first on; the next one's.
  static constexpr uint64_t kFirstHandle = 0x1000;
  uint64_t handles = kFirstHandle;
};

}  // namespace lab32::sim
