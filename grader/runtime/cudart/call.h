// The wrapper around every function of the runtime's API. It takes the runtime's lock, waits if the
// function waits, reports a kernel's fault, and turns an Error into a refusal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/cudart/errors.h"
#include "runtime/cudart/runtime.h"
#include "runtime/record/recording.h"

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

// ---------------------------------------------------------------------------------------------
// Faults in the host's part of a program: calls that fail, copies of memory that nothing has
// written, memory that is never freed. `lab32 check` reports all of them, `profile` says which
// launches failed, and `run` names at the program's end a failed call that the program ignored.

// The call that this thread is in.
struct CurrentCall {
  const char* name = "";
  bool waits = false;
  std::string reason;  // why it fails, in words; empty: the error's own text says enough
};
CurrentCall& current_call();

// Stores the reason why the current call fails, for its message, and returns the error.
cudaError_t fail(cudaError_t error, std::string reason);

// Call when the current call has ended with this error.
void record_failed_call_for_report(Runtime& runtime, cudaError_t error);
// Call when the program has asked for this error, or for the last one.
void note_error_query(cudaError_t error);

// Under `check`: bytes that nothing has written are copied from an allocation to the host.
// `first`: the offset of the first such byte.
void note_copy_of_unwritten_bytes(const sim::Allocation& from, uint64_t first, uint64_t bytes);

// Records a finding, once for each call, place and kind.
void record_finding(record::HostFinding finding, const HostCallSite& site);

// Call when the program resets a device, or ends: records the memory that it has not freed.
void note_leaks(Runtime& runtime, int device);
// Call when the program calls exit() with this status. What it has left is reported when
// none of its code runs any more.
void schedule_leak_report_at_exit(int status);

// ---------------------------------------------------------------------------------------------
// The host's own accesses to the memory of the simulated devices (host_access.cpp). An access to
// device memory ends the program with a segmentation fault, which a message names. Under `check`,
// an access to managed or pinned memory is a finding if a kernel or a copy writes it and no call
// has waited for them.

// Handles segmentation faults from now on, unless the program does so itself. Returns whether it
// does.
bool watch_host_accesses();

}  // namespace lab32::cudart
