// LAB32_LAUNCH: the launch shape that a submission states for a kernel where its task leaves it
// free. The macro and the meaning of its fields stand in labs/include/lab32.cuh.
#pragma once

#include <cstdint>
#include <string>

#include "device/device.h"

namespace lab32::grading {

struct LaunchConfig {
  uint32_t block = 0;
  uint32_t items_per_thread = 0;
  uint32_t blocks_per_sm = 0;  // 0: no limit
  uint32_t dynamic_shared = 0;

  // ceil(n / (block * items_per_thread)) blocks, one at least, and at most blocks_per_sm for each
  // of the device's multiprocessors.
  device::Shape shape(uint64_t n) const;
  device::Shape shape(uint64_t n, uint32_t multiprocessors) const;  // of another device
};

// The record of `kernel`, a base name. Loses the check, and says what to write, when the file has
// none, or when no launch could be made of it. items_per_thread left out is 1.
LaunchConfig launch_config(const std::string& kernel);
LaunchConfig launch_config(const std::string& kernel, device::LoadedModule& module);

}  // namespace lab32::grading
