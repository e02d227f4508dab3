#include "gpu/driver_api.h"

#include <dlfcn.h>
#include <fmt/core.h>

namespace lab32::device::cuda {
namespace {

struct OpenedDriver {
  DriverApi api;
  std::string missing;
};

OpenedDriver open_driver() {
  OpenedDriver result;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    result.missing = "no CUDA driver (libcuda.so.1) on this machine";
    return result;
  }
  if (dlsym(library, "lab32_simulated_driver")) {
    result.missing = "the CUDA driver that is found (LD_LIBRARY_PATH) is lab32's simulated one";
    return result;
  }
#define LAB32_LOOK_UP(member, symbol, parameters)                                             \
  result.api.member = reinterpret_cast<decltype(result.api.member)>(dlsym(library, #symbol)); \
  if (!result.api.member && result.missing.empty())                                           \
    result.missing = "the CUDA driver of this machine has no " #symbol ": install a newer one";
  LAB32_CUDA_ENTRY_POINTS(LAB32_LOOK_UP)
#undef LAB32_LOOK_UP
  return result;
}

}  // namespace

std::string DriverApi::name_of(Result result) const {
  const char* name = nullptr;
  if (error_name(result, &name) != kSuccess || !name) return "CUDA error " + std::to_string(result);
  return name;
}

std::string DriverApi::description_of(Result result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != kSuccess || !text) return "unknown error";
  return text;
}

const DriverApi* driver_api(std::string& missing) {
  static const OpenedDriver opened = open_driver();
  missing = opened.missing;
  return missing.empty() ? &opened.api : nullptr;
}

}  // namespace lab32::device::cuda

namespace lab32::device {
namespace {

// Names and values are those of the NVML library.
using NvmlDevice = struct NvmlDeviceHandle*;
constexpr int kSmClock = 1, kMemoryClock = 2;
// Harmless reasons: GPU idle, clocks set by an application, sync boost, display.
constexpr unsigned long long kHarmless = 0x1 | 0x2 | 0x10 | 0x100;

struct Nvml {
  int (*init)() = nullptr;
  int (*by_uuid)(const char*, NvmlDevice*) = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
  bool ready = false;

  Nvml() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    const auto look_up = [&](auto& member, const char* symbol) {
      member = reinterpret_cast<std::decay_t<decltype(member)>>(dlsym(library, symbol));
      return member != nullptr;
    };
    ready = look_up(init, "nvmlInit_v2") && look_up(by_uuid, "nvmlDeviceGetHandleByUUID") &&
            look_up(clock, "nvmlDeviceGetClockInfo") &&
            look_up(reasons, "nvmlDeviceGetCurrentClocksThrottleReasons") && init() == 0;
  }
};

std::string text_of(const cuda::Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

}  // namespace

std::optional<GpuClocks> read_clocks(const cuda::Uuid& uuid) {
  static const Nvml nvml;
  NvmlDevice device = nullptr;
  if (!nvml.ready || nvml.by_uuid(text_of(uuid).c_str(), &device) != 0) return std::nullopt;
  GpuClocks clocks;
  unsigned sm = 0, memory = 0;
  unsigned long long reasons = 0;
  if (nvml.clock(device, kSmClock, &sm) != 0 || nvml.clock(device, kMemoryClock, &memory) != 0)
    return std::nullopt;
  if (nvml.reasons(device, &reasons) != 0) reasons = 0;  // not every card reports it
  clocks.sm_mhz = sm;
  clocks.memory_mhz = memory;
  clocks.throttled = reasons & ~kHarmless;
  return clocks;
}

}  // namespace lab32::device
