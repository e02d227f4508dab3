// A simulated device, and what belongs to it alone. All of a process are alike.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/device.h"
#include "runtime/cudart/acting.h"
#include "runtime/cudart/api.h"
#include "runtime/cudart/repeats.h"
#include "runtime/cudart/timeline.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

namespace lab32::cudart {

struct Gpu {
  Gpu(int number, const model::Profile& profile, sim::Memory& memory, double& host_time);

  const int number;
  // Devices whose kernels reach, bit by bit: what it has of its own, such as its modules'
  // variables; and what the program has allocated, once they were given access.
  const uint64_t own;
  uint64_t reached_by;
  std::unique_ptr<device::Device> device;
  Timeline timeline;
  KnownTimes known_times;
  Repeats repeats;

  std::string output;  // of kernels, not printed yet
  bool said_output_lost = false;
  std::optional<cudaError_t> fault;  // of a kernel; the device runs nothing more
  unsigned flags = 0;
  std::map<cudaLimit, size_t> limits;
  bool heap_in_use = false;  // a kernel that calls malloc() was launched: its size is settled

  // All that it was given to do is done: what kernels have printed appears.
  void wait();
  void print_output();  // on stdout
};

}  // namespace lab32::cudart
