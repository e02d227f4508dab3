// What every function of the driver's API is wrapped in.
#pragma once

#include <functional>

#include "runtime/cudart/call.h"
#include "runtime/driver/api.h"

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
