// What every function of the API is wrapped in.
#pragma once

#include <functional>

#include "runtime/cudart/errors.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// regardless: it does not wait, and a fault does not keep it from what it does.
enum class Waits : uint8_t { no, yes, regardless };

// What a graph's launch calls itself while it launches a kernel.
constexpr const char* kKernelNode = "cudaGraphLaunch (kernel)";

// While one lives, what this thread calls is called by the driver's API: under that name, and an
// error is not what cudaGetLastError() will report.
class CalledAs {
 public:
  explicit CalledAs(const char* name);
  ~CalledAs();
  CalledAs(const CalledAs&) = delete;
  CalledAs& operator=(const CalledAs&) = delete;

 private:
  const char* before_;
};

// Runs `body` with the runtime to itself. A call that waits for the device first prints what
// kernels have printed, and is where a kernel's fault is reported; after that every call reports
// it. An Error in `body` is a refusal: what it says goes to stderr. `name`: of the function.
cudaError_t call(const char* name, Waits waits, const std::function<cudaError_t(Runtime&)>& body);

}  // namespace lab32::cudart
