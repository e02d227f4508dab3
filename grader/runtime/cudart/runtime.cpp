#include "runtime/cudart/runtime.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "base/error.h"
#include "device/sim_device.h"
#include "runtime/record/recording.h"

namespace lab32::cudart {
namespace {

// PCI Express 5.0 x16 in each direction: 32 GT/s x 16 lanes x 128/130, in bytes.
constexpr double kLinkBytesPerSecond = 63e9;

// Copies between two H100s joined by 18 NVLinks, in each direction
// (data/measured/programs/h100x2-peers.csv).
constexpr double kPeerBytesPerSecond = 392e9, kPeerSeconds = 7.4e-6;
constexpr double kStagedBytesPerSecond = 36.4e9, kStagedSeconds = 18.9e-6;

}  // namespace

double copy_seconds(const model::DeviceProfile& profile, uint64_t bytes, Route route) {
  const auto seconds = [&](double first, double rate) {
    return first + static_cast<double>(bytes) / rate;
  };
  const double first = profile.time.warm_launch_seconds;
  switch (route) {
    case Route::host:
      return seconds(first, kLinkBytesPerSecond);
    case Route::peer:
      return seconds(kPeerSeconds, kPeerBytesPerSecond);
    case Route::staged:
      return seconds(kStagedSeconds, kStagedBytesPerSecond);
    case Route::memory:
      break;
  }
  // A copy within a device reads and writes every byte.
  return seconds(first, profile.time.dram_bytes_per_second / 2);
}

double memset_seconds(const model::DeviceProfile& profile, uint64_t bytes) {
  return profile.time.warm_launch_seconds +
         static_cast<double>(bytes) / profile.time.dram_bytes_per_second;
}

double launch_seconds(const model::DeviceProfile& profile, const device::LaunchResult& run) {
  if (run.predicted) return run.predicted->seconds;
  uint64_t sectors = 0;
  if (run.counters) {
    const counters::TextureBulkRemoteTraffic& w = run.counters->other;
    sectors = run.counters->l2_sectors + w.texture.sectors + w.surface_load.sectors +
              w.surface_store.sectors + w.bulk_load.sectors + w.bulk_store.sectors;
  }
  return profile.time.warm_launch_seconds +
         static_cast<double>(sectors) * 32 / profile.time.dram_bytes_per_second;
}

double LaunchTimeExtrapolator::seconds(const model::DeviceProfile& profile,
                                       const device::LaunchResult& run) {
  // For textures, clusters and some other features there is no prediction, but sectors are counted.
  const bool modelled = !run.fault && (run.predicted || run.counters);
  if (modelled) {
    ++modelled_;
    seconds_ = launch_seconds(profile, run);
    warp_instructions_ = run.warp_instructions.value_or(0);
  }
  if (modelled || run.fault || !run.warp_instructions || warp_instructions_ == 0)
    return launch_seconds(profile, run);
  const double overhead = std::min(seconds_, profile.time.warm_launch_seconds);
  return overhead + (seconds_ - overhead) * static_cast<double>(*run.warp_instructions) /
                        static_cast<double>(warp_instructions_);
}

std::string launch_key(const std::string& symbol, const device::LaunchShape& shape,
                       const std::vector<device::KernelArgument>& arguments) {
  std::string key = symbol + '\0';
  const auto add = [&key](const void* bytes, size_t size) {
    key.append(static_cast<const char*>(bytes), size);
  };
  add(&shape, sizeof shape);
  for (const device::KernelArgument& argument : arguments)
    add(argument.bytes().data(), argument.bytes().size());
  return key;
}

std::string launch_key_modulo_alignment(const std::string& symbol, const device::LaunchShape& shape,
                                        std::vector<device::KernelArgument> arguments,
                                        const sim::Memory& memory) {
  // cudaMalloc's alignment, so that arrays have equal lines and sectors
  constexpr uint64_t kAligned = 256;
  for (device::KernelArgument& argument : arguments) {
    std::vector<std::byte> bytes = argument.bytes();
    for (size_t at = 0; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, &bytes[at], sizeof word);
      const sim::Allocation* const in = memory.is_in_used_range(word) ? memory.find(word) : nullptr;
      if (in == nullptr) continue;
      word = in->begin + (word - in->begin) % kAligned;
      std::memcpy(&bytes[at], &word, sizeof word);
    }
    argument = device::KernelArgument::from_bytes(bytes.data(), bytes.size());
  }
  return launch_key(symbol, shape, arguments);
}

RepeatedLaunchTimeCache::EstimateAndShouldModel RepeatedLaunchTimeCache::find_or_add_estimate(
    const std::string& launch, const std::string& pieces) {
  // A program whose launches all differ gains nothing, so the number of entries is limited.
  constexpr size_t kMost = 4096;
  if (first_.size() >= kMost && first_.count(pieces) == 0) {
    known_.clear();
    first_.clear();
  }
  const std::string& first = first_.try_emplace(pieces, launch).first->second;
  LaunchTimeExtrapolator& time = known_[first];
  return {&time, first == launch && !time.settled()};
}

SimulatedGpu::SimulatedGpu(int which, const model::DeviceProfile& profile, sim::Memory& memory,
                           double& host_time)
    : number(which),
      own(uint64_t{1} << which),
      reached_by(own),
      device(device::make_sim_device(profile, memory)),
      timeline(host_time),
      // The limits' defaults on an H200, except printf's buffer, which is as large as the
      // simulator's limit for a launch (an H200's has 8,650,752 bytes).
      limits{{cudaLimitStackSize, 1024},           {cudaLimitPrintfFifoSize, 1 << 20},
             {cudaLimitMallocHeapSize, 8 << 20},   {cudaLimitDevRuntimePendingLaunchCount, 2048},
             {cudaLimitMaxL2FetchGranularity, 64}, {cudaLimitPersistingL2CacheSize, 11796480}} {}

void SimulatedGpu::wait() {
  print_output();
  timeline.wait();
}

void SimulatedGpu::print_output() {
  if (output.empty()) return;
  std::fwrite(output.data(), 1, output.size(), stdout);
  std::fflush(stdout);
  output.clear();
}

namespace {

// Freed addresses are not reused, so that a use after free is found. A program that allocates and
// frees in a loop therefore needs much more address space than memory.
uint64_t address_space_bytes(uint64_t dram_bytes) {
  for (uint64_t bytes = uint64_t{8} << 40; bytes > dram_bytes; bytes /= 2) {
    // One bit marks each initialised byte, so an eighth is added.
    void* probe = mmap(nullptr, bytes + bytes / 8, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED) continue;
    munmap(probe, bytes + bytes / 8);
    return bytes;
  }
  return std::min(dram_bytes, uint64_t{64} << 30);  // ulimit -v limits the address space
}

std::string environment_value_or(const EnvironmentVariableName& variable, const char* otherwise) {
  const std::string value = environment_value(variable);
  return value.empty() ? otherwise : value;
}

Tool parse_lab32_tool(const std::string& name) {
  if (name == "profile") return Tool::profile;
  if (name == "check") return Tool::check;
  if (name == "run") return Tool::run;
  throw Error("LAB32_TOOL=" + name + ": it must be run, profile or check");
}

std::optional<uint64_t> schedule_seed_if_given(const std::string& text) {
  if (text.empty()) return std::nullopt;
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stopped != end)
    throw Error("LAB32_SCHEDULE=" + text + ": it may be a number from 0 to 2^64 - 1");
  return seed;
}

int device_count_of(const std::string& text) {
  if (text.size() == 1 && text[0] >= '1' && text[0] <= '0' + kMostDevices) return text[0] - '0';
  throw Error("LAB32_GPUS=" + text + ": it may be a number from 1 to " +
              std::to_string(kMostDevices));
}

std::vector<std::unique_ptr<SimulatedGpu>> make_gpus(int devices,
                                                     const model::DeviceProfile& profile,
                                                     sim::Memory& memory, double& host_time) {
  std::vector<std::unique_ptr<SimulatedGpu>> gpus;
  for (int i = 0; i < devices; ++i)
    gpus.push_back(std::make_unique<SimulatedGpu>(i, profile, memory, host_time));
  return gpus;
}

std::vector<device::Device*> devices_of(const std::vector<std::unique_ptr<SimulatedGpu>>& gpus) {
  std::vector<device::Device*> devices;
  for (const auto& gpu : gpus) devices.push_back(gpu->device.get());
  return devices;
}

std::optional<counters::DetailFilter> detail_filter_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return record::read_detail_filter(text);
}

}  // namespace

Runtime::Runtime(const std::string& profile_name, int count)
    : tool(parse_lab32_tool(environment_value_or(variables::kTool, "run"))),
      schedule(schedule_seed_if_given(environment_value(variables::kSchedule))),
      launch_detail(detail_filter_of(environment_value(variables::kLaunchDetail))),
      profile(model::read_device_profile(profile_name)),
      memory(address_space_bytes(profile.dram_bytes)),
      gpus(make_gpus(count, profile, memory, host_time)),
      registry(devices_of(gpus), tool == Tool::profile),
      allocations(memory, profile.dram_bytes),
      contexts(count) {
  for (const auto& gpu : gpus)
    allocations.set_default_reaching_devices(gpu->number, &gpu->reached_by);
  if (tool == Tool::check) allocations.remember_sites();
}

DeviceScope::DeviceScope(Runtime& runtime, int number)
    : runtime_(runtime), before_(device_of_current_call()) {
  switch_to(static_cast<size_t>(number));
}

DeviceScope::~DeviceScope() { switch_to(before_); }

void DeviceScope::switch_to(size_t number) {
  device_of_current_call() = number;
  // With a single device, kernels reach all memory.
  const bool alone = runtime_.gpus.size() == 1;
  runtime_.memory.set_current_device(static_cast<unsigned>(number),
                                     alone ? nullptr : &runtime_.gpus[number]->own);
}

void Runtime::reset_current_device() {
  allocations.release_all(gpu().number, [&](uint64_t begin) {
    Contexts::Context owner = contexts.owner_of_allocation(begin);
    return owner && !contexts.is_primary(owner);  // true for a context that the program created
  });
  arrays.forget_freed_arrays();
  for (const auto& other : gpus)
    if (other->number != gpu().number) other->reached_by &= ~gpu().own;
  gpu().reached_by = gpu().own;
  registry.unload_from_current_device();
  gpu().device->release_heap();
  gpu().heap_in_use = false;
}

void Runtime::wait_for(SimulatedGpu& gpu) {
  gpu.wait();
  unfinished.clear();
  if (gpu.fault && !sticky) sticky = *gpu.fault;
}

std::recursive_mutex& runtime_lock() {
  static auto* lock = new std::recursive_mutex;
  return *lock;
}

Runtime& runtime() {
  static auto* made = new Runtime(environment_value_or(variables::kDevice, "h200"),
                                  device_count_of(environment_value_or(variables::kGpus, "1")));
  return *made;
}

namespace {

int major_of(const Runtime& r) { return std::stoi(r.profile.arch.substr(3)) / 10; }
int minor_of(const Runtime& r) { return std::stoi(r.profile.arch.substr(3)) % 10; }

template <class Field, class Value>
void assign_with_cast(Field& field, Value value) {
  field = static_cast<Field>(value);
}

}  // namespace

std::optional<int> device_attribute(const Runtime& r, cudaDeviceAttr which, int device) {
  const model::DeviceProfile& p = r.profile;
  switch (which) {
#define ATTRIBUTE(name, field, value) \
  case cudaDevAttr##name:             \
    return static_cast<int>(value);
#include "runtime/cudart/attributes.def"
#undef ATTRIBUTE
    case cudaDevAttrComputeCapabilityMajor:
      return major_of(r);
    case cudaDevAttrComputeCapabilityMinor:
      return minor_of(r);
    default:
      return std::nullopt;
  }
}

cudaDeviceProp device_properties(const Runtime& r, int device) {
  const model::DeviceProfile& p = r.profile;
  struct PropertiesWithDummyField : cudaDeviceProp {
    int64_t NO_FIELD;
  } out{};
  const std::string name = r.profile.name + " (simulated by lab32)";
  std::memcpy(out.name, name.data(), std::min(name.size(), sizeof out.name - 1));
  out.totalGlobalMem = r.profile.dram_bytes;
  // A UUID of 16 bytes that no real GPU has.
  const std::string uuid = "lab32-simulated" + std::to_string(device);
  std::memcpy(out.uuid.bytes, uuid.data(), sizeof out.uuid.bytes);
#define ATTRIBUTE(name, field, value) assign_with_cast(out.field, value);
#include "runtime/cudart/attributes.def"
#undef ATTRIBUTE
  out.major = major_of(r);
  out.minor = minor_of(r);
  return out;
}

}  // namespace lab32::cudart

// Static variables of this library are never destroyed. The program's static destructors and
// atexit() functions may call the runtime, and their order depends on which variable was
// constructed first. The registration function of C++ destructors is defined here, so that the
// linker finds it before libc's.

extern "C" {
int __cxa_atexit(void (*destroy)(void*), void* object, void* library);
int __cxa_atexit(void (*)(void*), void*, void*) { return 0; }
}
