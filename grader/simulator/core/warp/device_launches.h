// Launches that kernels ask for (dynamic parallelism). They run when the grid that asked has ended,
// which counts as complete when they are (device/sim_device.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/grid.h"

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
  // What a launch says that is impossible (cudaError_t; 0: it is not), and what an error is called
  // and means.
  std::function<uint32_t(const DeviceLaunch&)> error_of;
  std::function<std::string(uint32_t error, bool name)> text_of;
  int32_t devices = 1;
  // Each thread's last error, by block and thread; and texts, where they lie in device memory.
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> last_errors;
  std::map<std::pair<uint32_t, bool>, uint64_t> texts;
};

}  // namespace lab32::sim
