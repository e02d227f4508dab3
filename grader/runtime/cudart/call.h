// The wrapper around every function of the runtime's API. It takes the runtime's lock, waits if the
// function waits, reports a kernel's fault, and turns an Error into a refusal.
#pragma once

#include <functional>

#include "runtime/cudart/errors.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// regardless: the function does not wait, and works even after a fault.
enum class Waits : uint8_t { no, yes, regardless };

// The name under which a graph launch starts a kernel.
constexpr const char* kKernelNode = "cudaGraphLaunch (kernel)";

// While an object of this class lives, this thread's calls come from the driver's API: messages use
// the driver's names of the function and of errors, and errors do not change what
// cudaGetLastError() reports.
class DriverCallScope {
 public:
  explicit DriverCallScope(const char* name, ErrorNames names = error_name);
  ~DriverCallScope();
  DriverCallScope(const DriverCallScope&) = delete;
  DriverCallScope& operator=(const DriverCallScope&) = delete;

 private:
  const char* before_;
  ErrorNames names_before_;
};

// Calls `body` with the runtime locked. A function that waits first prints the output of kernels
// and reports a kernel's fault; after that, every call reports it. If `body` throws Error, its text
// goes to stderr as a refusal. `name` is the function's name.
cudaError_t call(const char* name, Waits waits, const std::function<cudaError_t(Runtime&)>& body);

}  // namespace lab32::cudart
