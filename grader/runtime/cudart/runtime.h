// The process's simulated devices and their state: memory, modelled clock, modules, streams, graphs
// and the pending fault. runtime() returns the only instance; callers hold runtime_lock().
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
#include <utility>
#include <vector>

#include "device/device.h"
#include "runtime/cudart/allocations.h"
#include "runtime/cudart/api.h"
#include "runtime/cudart/arrays.h"
#include "runtime/cudart/graphs.h"
#include "runtime/cudart/registry.h"
#include "runtime/cudart/streams.h"
#include "runtime/cudart/unfinished_writes.h"
#include "simulator/core/memory/memory.h"
#include "simulator/timing/profile.h"

namespace lab32::cudart {

// Remembers the effects of launches, so that a launch which a program repeats (in a timing loop,
// for example) need not be simulated again.
//
// If a kernel is launched with equal shape and arguments on equal memory, it leaves equal memory.
// Such a launch is replaced by restoring what it left. To know whether memory is equal, digests of
// all allocations are compared. The first comparison is made when it costs a small part of the time
// that the launch's runs have taken since the last useless one; later comparisons are made while
// they save time.
class LaunchMemo {
 public:
  // Call when something other than a launch may have changed memory: digests are then invalid.
  static void forget_digests();
  static bool has_digests();

  // Whether an allocation is known, without reading it, to contain this fill: from a digest or from
  // the last fill. Benchmarks fill a buffer as large as L2 before each launch to empty the cache.
  struct Fill {
    uint64_t at, bytes;
    unsigned char value;
    bool operator==(const Fill& b) const {
      return at == b.at && bytes == b.bytes && value == b.value;
    }
  };
  static bool is_known_filled_with(const sim::Allocation& allocation, const Fill& fill);
  // Records that the whole allocation has been filled.
  static void record_fill(const sim::Allocation& allocation, const Fill& fill);

  class RememberedLaunch {
   public:
    // Restores what the launch left the last time, if that is known and memory is equal. Returns
    // the warp instructions that the launch issues.
    std::optional<uint64_t> replay(sim::Memory& memory);
    // Call when the launch was simulated, in `seconds` of host time. `silent`: it printed nothing,
    // launched no kernels and had no fault.
    void record_run(const sim::Memory& memory, const device::LaunchResult& run, double seconds,
                    bool silent);
    // The findings of the run whose effects replay() restores.
    const std::optional<std::vector<counters::Finding>>& hazards() const { return hazards_; }

   private:
    bool comparison_is_worthwhile(const sim::Memory& memory) const;
    bool remember_result(const sim::Memory& memory);

    using Digest = std::vector<sim::AllocationDigest>;
    using Effects = std::vector<std::pair<uint32_t, sim::Memory::Snapshot::AllocationSnapshot>>;

    double seconds_ = 0;  // duration of the shortest run; 0: no run yet
    // The seconds that the runs took since the last comparison that found different memory.
    double seconds_since_mismatch_ = 0;
    std::optional<Digest> found_;  // before the current run
    // digest of all allocations before the run whose effects are known
    std::optional<Digest> before_;
    Effects effects_;  // the allocations that this run changed, with their contents
    Digest after_;     // digest of all allocations after this run
    uint64_t warp_instructions_ = 0;
    std::optional<std::vector<counters::Finding>> hazards_;
  };

  // The entry of launches with this key: kernel, shape and arguments, bit by bit.
  RememberedLaunch& launch_of_key(const std::string& key);

 private:
  std::map<std::string, RememberedLaunch> known_;
};

// ---------------------------------------------------------------------------------------------
// The modelled clock of a device. All its work runs in sequence.

class SimulatedGpuClock {
 public:
  // Work begins no earlier than the program's request. `host` is the time up to which the program
  // has waited; all devices share it. It must outlive the timeline.
  explicit SimulatedGpuClock(double& host) : host_(host) {}

  double now() const { return std::max(now_, host_); }  // seconds
  void advance(double seconds) { now_ = now() + seconds; }
  void wait_for(double at) { now_ = std::max(now(), at); }
  // The program waits until all work is done.
  void wait() { host_ = now(); }

 private:
  double& host_;
  double now_ = 0;
};

// The way of a copy: within device memory, over the host's link, between two devices over NVLink,
// or through the host if neither device has access to the other.
enum class Route : uint8_t { memory, host, peer, staged };

// The modelled time of a copy in seconds.
double copy_seconds(const model::DeviceProfile& profile, uint64_t bytes, Route route);
double memset_seconds(const model::DeviceProfile& profile, uint64_t bytes);
// The model's prediction for the launch in seconds; without one, its sectors divided by peak
// bandwidth.
double launch_seconds(const model::DeviceProfile& profile, const device::LaunchResult& run);

// The modelled time of a launch that a program repeats. Only the first two runs are modelled, since
// the first may find cold caches. Later runs take the second one's time, scaled by their warp
// instructions, because modelling costs several times as much as running.
class LaunchTimeExtrapolator {
 public:
  bool settled() const { return modelled_ >= 2; }
  // The time of a launch, which must have been modelled unless settled().
  double seconds(const model::DeviceProfile& profile, const device::LaunchResult& run);

 private:
  int modelled_ = 0;
  double seconds_ = 0;
  uint64_t warp_instructions_ = 0;
};

// Launches with the same key have the same kernel, shape and arguments, bit by bit.
std::string launch_key(const std::string& symbol, const device::LaunchShape& shape,
                       const std::vector<device::KernelArgument>& arguments);
// Launches with the same key differ at most in which part of the same arrays they work on, as when
// a loop distributes pieces to streams. An address counts as its allocation and its offset within a
// sector of an L2 line.
std::string launch_key_modulo_alignment(const std::string& symbol, const device::LaunchShape& shape,
                                        std::vector<device::KernelArgument> arguments,
                                        const sim::Memory& memory);

class RepeatedLaunchTimeCache {
 public:
  struct EstimateAndShouldModel {
    LaunchTimeExtrapolator* time;
    bool model;  // whether to model the launch, not to use the time known so far
  };
  // Looks up launch_key() and launch_key_modulo_alignment(). If launches differ only in their
  // pieces, only the first one's launches are modelled.
  EstimateAndShouldModel find_or_add_estimate(const std::string& launch,
                                              const std::string& aligned_pieces_key);

 private:
  std::map<std::string, LaunchTimeExtrapolator> known_;
  std::map<std::string, std::string>
      first_;  // launch_key_modulo_alignment() of the first launch -> launch_key()
};

// A simulated device and its state. All devices of a process have the same profile.

struct SimulatedGpu {
  SimulatedGpu(int number, const model::DeviceProfile& profile, sim::Memory& memory,
               double& host_time);

  const int number;
  // Sets of devices whose kernels reach memory, a bit for each: `own` for what the device owns,
  // such as its modules' variables; `reached_by` for the program's allocations, which grows with
  // peer access.
  const uint64_t own;
  uint64_t reached_by;
  std::unique_ptr<device::Device> device;
  SimulatedGpuClock timeline;
  RepeatedLaunchTimeCache known_times;
  LaunchMemo launch_memo;

  std::string output;  // output of kernels that is not printed yet
  bool said_output_lost = false;
  // error of a kernel's fault, after which the device executes nothing more
  std::optional<cudaError_t> fault;
  unsigned flags = 0;
  std::map<cudaLimit, size_t> limits;
  // Set when a kernel that calls malloc() was launched: the heap's size is then fixed.
  bool heap_in_use = false;

  // Waits for all work of the device, and prints what its kernels have printed.
  void wait();
  void print_output();  // to stdout
};

// The tool under which the program runs (LAB32_TOOL).
enum class Tool : uint8_t { run, profile, check };

struct Runtime {
  Runtime(const std::string& profile_name, int devices);

  Tool tool = Tool::run;
  // LAB32_SCHEDULE: the seed of the first launch, from which later launches derive theirs
  std::optional<uint64_t> schedule;
  std::optional<counters::DetailFilter>
      launch_detail;  // LAB32_LAUNCH_DETAIL: the accesses to record of each launch
  model::DeviceProfile profile;
  sim::Memory memory;  // memory of all devices, in one address space
  WritesSinceHostSync unfinished{memory};
  double host_time = 0;  // the time up to which the program has waited, on the modelled clock
  std::vector<std::unique_ptr<SimulatedGpu>> gpus;  // by number; the list never changes
  DeviceCodeRegistry registry;
  Allocations allocations;
  ManagedMemoryAdviceMap managed;
  CudaArrays arrays{allocations};
  std::map<unsigned long long, TextureObjectCreateInfo> textures;  // and surfaces
  Contexts contexts;
  Streams streams;
  Graphs graphs;
  Captures captures{graphs};
  std::map<std::string, unsigned> stale_trials;     // by kernel: launches (stale_trial.cpp)
  std::set<std::string> said_grid_races_unchecked;  // kernels for which the message was printed
  bool said_uninitialised =
      false;  // under `run`: whether a kernel has used memory that nothing has written
  // The error that every call returns after a call has reported a kernel's fault. Each call stores
  // it for cudaGetLastError() again. cudaSuccess: no fault was reported.
  cudaError_t sticky = cudaSuccess;

  int devices() const { return static_cast<int>(gpus.size()); }
  bool has_device(int number) const { return number >= 0 && number < devices(); }
  SimulatedGpu& gpu(int number) { return *gpus[static_cast<size_t>(number)]; }
  // The device that the call works on.
  SimulatedGpu& gpu() { return *gpus[device_of_current_call()]; }
  const SimulatedGpu& gpu() const { return *gpus[device_of_current_call()]; }
  // Waits until the device has done all work. From then on calls report its fault.
  void wait_for(SimulatedGpu& gpu);
  // Frees what the program holds on the device that the call works on. Modules are loaded again at
  // their next use.
  void reset_current_device();
};

// While an object of this class lives, calls work on that device.
class DeviceScope {
 public:
  DeviceScope(Runtime& runtime, int number);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  void switch_to(size_t number);

  Runtime& runtime_;
  size_t before_;
};

// Every call holds it. Recursive, because host functions may call the runtime.
std::recursive_mutex& runtime_lock();
// Created at the first call; never destroyed, because exit handlers may call it. Throws Error if
// the device cannot be created.
Runtime& runtime();

// Device attributes and properties, computed from the device profile.

// nullopt: unknown attribute.
std::optional<int> device_attribute(const Runtime& runtime, cudaDeviceAttr which, int device);
cudaDeviceProp device_properties(const Runtime& runtime, int device);

}  // namespace lab32::cudart
