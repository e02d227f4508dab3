// The process's simulated devices, and what belongs to them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"
#include "runtime/cudart/allocations.h"
#include "runtime/cudart/api.h"
#include "runtime/cudart/arrays.h"
#include "runtime/cudart/graphs.h"
#include "runtime/cudart/registry.h"
#include "runtime/cudart/repeats.h"
#include "runtime/cudart/streams.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

// The modelled clock of a device, on which all work lies one behind the other.

namespace lab32::cudart {

class Timeline {
 public:
  // Nothing begins before the program has asked for it: `host`, to which it has waited, is that of
  // all devices. It must outlive the timeline.
  explicit Timeline(double& host) : host_(host) {}

  double now() const { return std::max(now_, host_); }  // seconds
  void advance(double seconds) { now_ = now() + seconds; }
  void wait_for(double at) { now_ = std::max(now(), at); }
  // The program waits until all is done.
  void wait() { host_ = now(); }

 private:
  double& host_;
  double now_ = 0;
};

// Within device memory, over the host's link, between two devices, and by way of the host where
// neither has access to the other.
enum class Route : uint8_t { memory, host, peer, staged };

// Seconds.
double copy_seconds(const model::Profile& profile, uint64_t bytes, Route route);
double fill_seconds(const model::Profile& profile, uint64_t bytes);
// The model's prediction where the launch has one, else its sectors over peak bandwidth.
double launch_seconds(const model::Profile& profile, const device::Run& run);

// What is known of a launch that a program repeats, as loops that take the time do. The caches are
// modelled for the first (which may find them cold) and for the second; those that follow are given
// the second's time, in proportion to the instructions that they issue. Modelling each costs
// several times as much as running it.
class KnownTime {
 public:
  bool settled() const { return modelled_ >= 2; }
  // Of a launch, modelled unless settled().
  double seconds(const model::Profile& profile, const device::Run& run);

 private:
  int modelled_ = 0;
  double seconds_ = 0;
  uint64_t warp_instructions_ = 0;
};

// Alike: kernel, shape and arguments, bit by bit.
std::string launch_key(const std::string& symbol, const device::Shape& shape,
                       const std::vector<device::Arg>& arguments);
// Alike but for which part of the same arrays each works on, as where a loop deals pieces to
// streams: addresses count as their allocation's, but for where they lie in a sector of L2's lines.
std::string pieces_key(const std::string& symbol, const device::Shape& shape,
                       std::vector<device::Arg> arguments, const sim::Memory& memory);

class KnownTimes {
 public:
  struct Found {
    KnownTime* time;
    bool model;  // or it is given what is known by now
  };
  // By launch_key() and pieces_key(). Of launches that are alike but for their pieces only those of
  // the first are modelled.
  Found of(const std::string& launch, const std::string& pieces);

 private:
  std::map<std::string, KnownTime> known_;
  std::map<std::string, std::string> first_;  // by pieces_key(): launch_key()
};

// A simulated device, and what belongs to it alone. All of a process are alike.

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
  std::set<std::string> said_grid_races_unchecked;  // of which kernels
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

// Device attributes and properties, from the device profile.

// nullopt: not known.
std::optional<int> attribute(const Runtime& runtime, cudaDeviceAttr which, int device);
cudaDeviceProp properties(const Runtime& runtime, int device);

}  // namespace lab32::cudart
