// The process's simulated devices, and what belongs to them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/cudart/acting.h"
#include "runtime/cudart/allocations.h"
#include "runtime/cudart/arrays.h"
#include "runtime/cudart/contexts.h"
#include "runtime/cudart/gpu.h"
#include "runtime/cudart/graphs.h"
#include "runtime/cudart/managed_ranges.h"
#include "runtime/cudart/registry.h"
#include "runtime/cudart/streams.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

namespace lab32::cudart {

// Which of the tools the program runs under (LAB32_TOOL).
enum class Tool : uint8_t { run, profile, check };

struct Runtime {
  Runtime(const std::string& profile_name, int devices);

  Tool tool = Tool::run;
  std::optional<uint64_t> schedule;  // LAB32_SCHEDULE: of the first launch; each has one of its own
  std::optional<counters::CloseUpChoice> close_up;  // LAB32_CLOSE_UP, of each launch
  model::Profile profile;
  sim::Memory memory;    // of all devices, in one address space
  double host_time = 0;  // on the modelled clock: until then the program has waited
  std::vector<std::unique_ptr<Gpu>> gpus;  // by number; never more or fewer
  Registry registry;
  Allocations allocations;
  ManagedRanges managed;
  Arrays arrays{allocations};
  std::map<unsigned long long, TextureDescriptions> textures;  // and surfaces
  Contexts contexts;
  Streams streams;
  Graphs graphs;
  Captures captures{graphs};
  std::set<std::string> said_order_unseen;  // of which kernels
  // What a kernel's fault has left on all devices, once it was told: from here on every call
  // returns it, and so remembers it anew. cudaSuccess: nothing.
  cudaError_t sticky = cudaSuccess;

  int devices() const { return static_cast<int>(gpus.size()); }
  bool has_device(int number) const { return number >= 0 && number < devices(); }
  Gpu& gpu(int number) { return *gpus[static_cast<size_t>(number)]; }
  // That the call under way works on.
  Gpu& gpu() { return *gpus[acting_device()]; }
  const Gpu& gpu() const { return *gpus[acting_device()]; }
  // Until that device has done all; a fault of its is told from here on.
  void wait_for(Gpu& gpu);
  // Frees what the program holds on the device that the call works on; its modules are loaded again
  // when they are used again.
  void reset();
};

// While one lives, calls work on that device.
class OnDevice {
 public:
  OnDevice(Runtime& runtime, int number);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  void act_for(size_t number);

  Runtime& runtime_;
  size_t before_;
};

// Held by every call while it works. Recursive: host functions may call the runtime.
std::recursive_mutex& runtime_lock();
// Made at the first call; lives to the end of the process, since exit handlers call it, too. Throws
// Error when the device cannot be made.
Runtime& runtime();

}  // namespace lab32::cudart
