#include "runtime/profiler/old_code.h"

#include <fmt/format.h>

#include "base/text.h"

namespace lab32::profiler {
namespace {

// Members of cudaDeviceProp that CUDA 13 has removed, and the attributes that replace them.
constexpr struct {
  const char *member, *attribute;
} kMembers[] = {{"clockRate", "ClockRate"},
                {"memoryClockRate", "MemoryClockRate"},
                {"computeMode", "ComputeMode"},
                {"deviceOverlap", "GpuOverlap"},
                {"kernelExecTimeoutEnabled", "KernelExecTimeout"},
                {"singleToDoublePrecisionPerfRatio", "SingleToDoublePrecisionPerfRatio"}};

// Functions that take a cudaMemLocation instead of a device's number, and their last arguments.
constexpr struct {
  const char *name, *arguments;
} kFunctions[] = {{"cudaMemPrefetchAsync", "{cudaMemLocationTypeDevice, device}, 0, stream"},
                  {"cudaMemAdvise", "advice, {cudaMemLocationTypeDevice, device}"}};

}  // namespace

std::optional<std::string> replacement_of_old_code(const std::string& messages) {
  static const Pattern member("\"cudaDeviceProp\" has no member \"(\\w+)\""),
      architecture("Unsupported gpu architecture '(\\w+)'");
  if (const auto found = member.search(messages))
    for (const auto& m : kMembers)
      if ((*found)[1] == m.member)
        return fmt::format(
            "CUDA 13 has no cudaDeviceProp::{}; cudaDeviceGetAttribute(&value, cudaDevAttr{}, "
            "device) gives the value",
            m.member, m.attribute);
  if (messages.find("cudaMemLocation") != std::string::npos)
    for (const auto& f : kFunctions)
      if (messages.find(f.name) != std::string::npos)
        return fmt::format(
            "since CUDA 13 {} takes a location instead of a device's number: {}(pointer, bytes, "
            "{}); the host is {{cudaMemLocationTypeHost, 0}}",
            f.name, f.name, f.arguments);
  if (const auto found = architecture.search(messages))
    return fmt::format(
        "CUDA 13 does not build for {}: leave out the option, or give sm_75 or a newer one",
        (*found)[1]);
  return std::nullopt;
}

}  // namespace lab32::profiler
