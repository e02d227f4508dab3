#include "gpu/driver_api.h"

#include <dlfcn.h>

namespace lab32::device::cuda {
namespace {

struct Opened {
  DriverApi api;
  std::string missing;
};

Opened open_driver() {
  Opened result;
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

std::string DriverApi::text_of(Result result) const {
  const char* text = nullptr;
  if (error_string(result, &text) != kSuccess || !text) return "unknown error";
  return text;
}

const DriverApi* driver_api(std::string& missing) {
  static const Opened opened = open_driver();
  missing = opened.missing;
  return missing.empty() ? &opened.api : nullptr;
}

}  // namespace lab32::device::cuda
