#include "runtime/cudart/call.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "runtime/cudart/host_access.h"
#include "runtime/cudart/host_findings.h"

namespace lab32::cudart {

DriverCallScope::DriverCallScope(const char* name, ErrorNames names)
    : before_(std::exchange(driver_function(), name)),
      names_before_(std::exchange(error_names(), names)) {}
DriverCallScope::~DriverCallScope() {
  driver_function() = before_;
  error_names() = names_before_;
}

namespace {

// NVIDIA's runtime is destroyed at process end, in the order of registration. Functions that the
// program passed to atexit() after its first CUDA call, and static variables constructed after it,
// can still call it; earlier ones cannot (H100, static and shared runtime).
std::atomic<bool> destroyed{false};
void mark_destroyed_at_exit() {
  static const int registered = on_exit(
      [](int status, void*) {
        note_exit(status);
        destroyed = true;
      },
      nullptr);
  static_cast<void>(registered);
}

// Functions that do not change memory. Launches, copies and fills report themselves whether they
// change it. Any function that is not listed might.
bool leaves_memory(const char* name) {
  static const std::set<std::string_view> kNames{"cudaLaunchKernel",
                                                 "cudaLaunchKernelExC",
                                                 "cuLaunchKernel",
                                                 kKernelNode,
                                                 "cudaGetLastError",
                                                 "cudaPeekAtLastError",
                                                 "cudaGetDevice",
                                                 "cudaEventRecord",
                                                 "cudaEventSynchronize",
                                                 "cudaEventElapsedTime",
                                                 "cudaDeviceSynchronize",
                                                 "cudaStreamSynchronize",
                                                 "cudaMemcpy",
                                                 "cudaMemcpyAsync",
                                                 "cudaMemcpyToSymbol",
                                                 "cudaMemcpyToSymbolAsync",
                                                 "cudaMemset",
                                                 "cudaMemsetAsync"};
  return kNames.count(name) != 0;
}

// While an object of this class lives, the thread is in this call.
class CurrentCallScope {
 public:
  CurrentCallScope(const char* name, bool waits)
      : before_{current_call().name, current_call().waits} {
    current_call() = {name, waits, ""};
  }
  ~CurrentCallScope() {
    current_call().name = before_.first;
    current_call().waits = before_.second;
  }
  CurrentCallScope(const CurrentCallScope&) = delete;
  CurrentCallScope& operator=(const CurrentCallScope&) = delete;

  // Whether the program itself has made the call.
  bool is_outermost() const { return *before_.first == '\0'; }

 private:
  std::pair<const char*, bool> before_;
};

cudaError_t call_alone(const char* name, Waits waits,
                       const std::function<cudaError_t(Runtime&)>& body,
                       UserObjects::Unreferenced* dead) {
  const std::lock_guard<std::recursive_mutex> lock(runtime_lock());
  try {
    Runtime& r = runtime();
    static const bool watched = watch_host_accesses();
    static_cast<void>(watched);
    if (driver_function()) {
      name = driver_function();
    } else {
      mark_destroyed_at_exit();
      r.contexts.use_primary();
    }
    const CurrentCallScope current(name, waits == Waits::yes);
    const DeviceScope on(r, Contexts::current_device());
    if (waits == Waits::yes) r.wait_for(r.gpu());
    // Registered memory belongs to the program, which can write it without a call.
    if (!leaves_memory(name) || r.devices() > 1 || !r.allocations.registered().empty())
      LaunchMemo::forget_digests();
    if (r.sticky && waits != Waits::regardless) return store_error(r.sticky);
    const cudaError_t error = body(r);
    if (current.is_outermost()) note_failure(r, error);
    *dead = r.graphs.objects().take_unreferenced();
    return store_error(error);
  } catch (const NotLoaded&) {
    return store_error(cudaErrorNotSupported);
  } catch (const Error& e) {
    refuse(fmt::format("{}: {}", name, e.what()));
    return store_error(cudaErrorNotSupported);
  } catch (const std::bad_alloc&) {
    return store_error(cudaErrorMemoryAllocation);
  } catch (const std::exception& e) {
    refuse(fmt::format("{}: {}", name, e.what()));
    return store_error(cudaErrorUnknown);
  }
}

}  // namespace

cudaError_t call(const char* name, Waits waits, const std::function<cudaError_t(Runtime&)>& body) {
  if (destroyed) return store_error(cudaErrorCudartUnloading);
  UserObjects::Unreferenced dead;
  const cudaError_t error = call_alone(name, waits, body, &dead);
  for (const auto& [destroy, pointer] : dead) destroy(pointer);
  return error;
}

}  // namespace lab32::cudart
