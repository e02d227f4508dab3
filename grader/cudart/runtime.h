// The process's one simulated device, and what belongs to it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "cudart/allocations.h"
#include "cudart/arrays.h"
#include "cudart/contexts.h"
#include "cudart/graphs.h"
#include "cudart/registry.h"
#include "cudart/streams.h"
#include "cudart/timeline.h"
#include "device/device.h"
#include "simulator/core/memory/memory.h"
#include "simulator/model/profile.h"

namespace lab32::cudart {

// Which of the tools the program runs under (LAB32_TOOL).
enum class Tool : uint8_t { run, profile, check };

struct Runtime {
  explicit Runtime(const std::string& profile_name);

  Tool tool = Tool::run;
  std::optional<uint64_t> schedule;  // LAB32_SCHEDULE: of the first launch; each has one of its own
  std::optional<counters::CloseUpChoice> close_up;  // LAB32_CLOSE_UP, of each launch
  model::Profile profile;
  sim::Memory memory;
  std::unique_ptr<device::Device> device;
  Registry registry;
  Allocations allocations;
  Arrays arrays{allocations};
  std::map<unsigned long long, TextureDescriptions> textures;  // and surfaces
  Contexts contexts;
  Streams streams;
  Graphs graphs;
  Captures captures{graphs};
  Timeline timeline;
  KnownTimes known_times;

  std::string output;  // of kernels, not printed yet
  bool said_output_lost = false;
  std::set<std::string> said_order_unseen;  // of which kernels
  std::optional<cudaError_t> fault;         // of a kernel; the device runs nothing more
  unsigned device_flags = 0;
  std::map<cudaLimit, size_t> limits;
  bool heap_in_use = false;  // a kernel that calls malloc() was launched: its size is settled

  void print_output();  // on stdout
};

// Held by every call while it works. Recursive: host functions may call the runtime.
std::recursive_mutex& runtime_lock();
// Made at the first call; lives to the end of the process, since exit handlers call it, too. Throws
// Error when the device cannot be made.
Runtime& runtime();

}  // namespace lab32::cudart
