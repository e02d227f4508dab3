// The launch functions of CUDA 3, deprecated since 4.0; PyCUDA still calls one of them.

#include <cstring>
#include <map>
#include <vector>

#include "runtime/driver/call.h"
#include "runtime/driver/modules.h"

using namespace lab32::driver;

namespace {

// The launch settings that the program has made for a function.
struct CuLaunchGridSettings {
  unsigned block[3] = {1, 1, 1};
  unsigned shared = 0;
  std::vector<char> arguments;
};

CUresult with_legacy_settings(const char* name, CUfunction function,
                              const std::function<CUresult(CuLaunchGridSettings&)>& body) {
  return call(name, [&](Runtime& r) {
    static std::map<const void*, CuLaunchGridSettings> all;
    if (!r.registry.find_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
    return body(all[function]);
  });
}

CUresult set_legacy_argument(const char* name, CUfunction function, int offset, const void* value,
                             size_t bytes) {
  return with_legacy_settings(name, function, [&](CuLaunchGridSettings& s) {
    if (offset < 0 || !value) return CUDA_ERROR_INVALID_VALUE;
    const auto at = static_cast<size_t>(offset);
    if (s.arguments.size() < at + bytes) s.arguments.resize(at + bytes);
    std::memcpy(s.arguments.data() + at, value, bytes);
    return CUDA_SUCCESS;
  });
}

CUresult launch_with_legacy_settings(CUfunction function, int width, int height, CUstream stream) {
  CuLaunchGridSettings now;
  const CUresult e = with_legacy_settings("cuLaunchGrid", function, [&](CuLaunchGridSettings& s) {
    now = s;
    return width > 0 && height > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
  if (e) return e;
  size_t bytes = now.arguments.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, now.arguments.data(),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function, static_cast<unsigned>(width), static_cast<unsigned>(height), 1,
                        now.block[0], now.block[1], now.block[2], now.shared, stream, nullptr,
                        extra);
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  return with_legacy_settings("cuFuncSetBlockShape", function, [&](CuLaunchGridSettings& s) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    s.block[0] = static_cast<unsigned>(x);
    s.block[1] = static_cast<unsigned>(y);
    s.block[2] = static_cast<unsigned>(z);
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncSetSharedSize(CUfunction function, unsigned bytes) {
  return with_legacy_settings("cuFuncSetSharedSize", function, [&](CuLaunchGridSettings& s) {
    s.shared = bytes;
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSetSize(CUfunction function, unsigned bytes) {
  return with_legacy_settings("cuParamSetSize", function, [&](CuLaunchGridSettings& s) {
    s.arguments.resize(bytes);
    return CUDA_SUCCESS;
  });
}
CUresult cuParamSeti(CUfunction function, int offset, unsigned value) {
  return set_legacy_argument("cuParamSeti", function, offset, &value, sizeof value);
}
CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return set_legacy_argument("cuParamSetf", function, offset, &value, sizeof value);
}
CUresult cuParamSetv(CUfunction function, int offset, void* value, unsigned bytes) {
  return set_legacy_argument("cuParamSetv", function, offset, value, bytes);
}
CUresult cuLaunch(CUfunction function) {
  return launch_with_legacy_settings(function, 1, 1, nullptr);
}
CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  return launch_with_legacy_settings(function, width, height, nullptr);
}
CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  return launch_with_legacy_settings(function, width, height, stream);
}
