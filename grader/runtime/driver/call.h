// The wrapper around every function of the driver's API. It checks that cuInit() was called and a
// context is current, and otherwise works like the runtime's wrapper (cudart/call.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/cudart/api.h"
#include "runtime/cudart/call.h"

// The toolkit's declarations of the driver's functions, so that a wrong signature does not compile.
// The functions keep the names that libcuda.so.1 exports (cuMemAlloc_v2, ...), instead of the names
// in programs' sources.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef __CUDA_API_VERSION_INTERNAL

// Declared here because not every toolkit has the header of the profiler's API.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}

namespace lab32::driver {

using cudart::Runtime;
using cudart::Waits;

// What the program must have called before: nothing, cuInit(), or a function that makes a context
// current.
enum class Needs : uint8_t { nothing, init, context };

// Converts an error of the runtime. Both APIs use the same numbers, except for errors that only one
// of them has.
CUresult driver_result_of(cudaError_t error);
// The driver's name of the runtime's error.
const char* driver_error_name(cudaError_t error);
// Lets a `body` return a driver error; call() returns the number unchanged.
constexpr cudaError_t error(CUresult result) { return static_cast<cudaError_t>(result); }

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// CUDA_SUCCESS, or the error that says what the program has not called before.
CUresult error_of_unmet_need(Needs needs);

// As cudart::call(), but an error that `body` returns does not change cudaGetLastError().
CUresult call(const char* name, Needs needs, Waits waits,
              const std::function<CUresult(Runtime&)>& body);
inline CUresult call(const char* name, const std::function<CUresult(Runtime&)>& body) {
  return call(name, Needs::context, Waits::no, body);
}

// Forwards to `same`, the runtime's function for the same purpose.
template <class Same>
CUresult forward_to_runtime(const char* name, Needs needs, Same&& same) {
  if (const CUresult e = error_of_unmet_need(needs)) return e;
  const cudart::DriverCallScope as(name, driver::driver_error_name);
  return driver_result_of(same());
}
template <class Same>
CUresult forward_to_runtime(const char* name, Same&& same) {
  return forward_to_runtime(name, Needs::context, same);
}

}  // namespace lab32::driver

// Macros for driver functions that do the same as a runtime function of another name.

#define LAB32_SAME(name, symbol, parameters, ...)                 \
  CUresult symbol parameters {                                    \
    return forward_to_runtime(name, [&] { return __VA_ARGS__; }); \
  }                                                               \
  static_assert(true)
#define LAB32_SAME_PER_THREAD(name, symbol, parameters, ...) \
  LAB32_SAME(name, symbol, parameters, __VA_ARGS__);         \
  LAB32_PER_THREAD(symbol, _ptsz)

// The driver's functions by name.

namespace lab32::driver {

// The name in the program's source, such as "cuMemMap", if the symbol is refused; nullopt
// otherwise.
std::optional<std::string> api_name_if_refused(const std::string& symbol);

// The message that a call of the refused function prints.
std::string refusal_message(const std::string& name);

// Memory that the program has mapped itself (virtual_memory.cpp).

// The piece of memory that is mapped at the address. False: none.
bool find_mapped_device_range(uint64_t address, uint64_t* begin, uint64_t* bytes);

}  // namespace lab32::driver
