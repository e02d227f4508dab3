// What every function of the driver's API is wrapped in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "runtime/cudart/api.h"
#include "runtime/cudart/call.h"

// The toolkit's own declarations of the driver's functions, so that a wrong signature does not
// compile: each under the name by which libcuda.so.1 exports it (cuMemAlloc_v2, ...), and not the
// one by which programs write it.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#undef __CUDA_API_VERSION_INTERNAL

// cudaProfiler.h, which not every installation of the toolkit has.
extern "C" {
CUresult cuProfilerStart();
CUresult cuProfilerStop();
}

namespace lab32::driver {

using cudart::Runtime;
using cudart::Waits;

// What must have been called before: nothing; cuInit(); and what makes a context current.
enum class Needs : uint8_t { nothing, init, context };

// The numbers of both APIs are the same, but for errors that only one of them has.
CUresult result_of(cudaError_t error);
// For a body: handed on unchanged by call().
constexpr cudaError_t error(CUresult result) { return static_cast<cudaError_t>(result); }

inline void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// CUDA_SUCCESS, or what is missing.
CUresult missing(Needs needs);

// As cudart::call(), which see; an error in `body` is not the runtime's.
CUresult call(const char* name, Needs needs, Waits waits,
              const std::function<CUresult(Runtime&)>& body);
inline CUresult call(const char* name, const std::function<CUresult(Runtime&)>& body) {
  return call(name, Needs::context, Waits::no, body);
}

// What the runtime has a function for, which is `same`.
template <class Same>
CUresult forward(const char* name, Needs needs, Same&& same) {
  if (const CUresult e = missing(needs)) return e;
  const cudart::CalledAs as(name);
  return result_of(same());
}
template <class Same>
CUresult forward(const char* name, Same&& same) {
  return forward(name, Needs::context, same);
}

}  // namespace lab32::driver

// Functions that are the runtime's under another name.

#define LAB32_SAME(name, symbol, parameters, ...)      \
  CUresult symbol parameters {                         \
    return forward(name, [&] { return __VA_ARGS__; }); \
  }                                                    \
  static_assert(true)
#define LAB32_SAME_PER_THREAD(name, symbol, parameters, ...) \
  LAB32_SAME(name, symbol, parameters, __VA_ARGS__);         \
  LAB32_PER_THREAD(symbol, _ptsz)

// The driver's functions by name.

namespace lab32::driver {

// What a program calls it that is linked with this symbol, if it is one that is only there to say
// that it is not: "cuMemMap".
std::optional<std::string> refused_symbol(const std::string& symbol);

// What is said when it is called.
std::string refusal_of(const std::string& name);

// Memory mapped by hand (virtual_memory.cpp).

// The piece of memory that is mapped at the address; false: there is none.
bool find_mapped(uint64_t address, uint64_t* begin, uint64_t* bytes);

}  // namespace lab32::driver
