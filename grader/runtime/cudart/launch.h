// Executes a kernel launch: checks the request, runs the kernel on the simulator, advances the
// modelled clock and records the launch. Occupancy queries are here because they use the same
// limits.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/cudart/graphs.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

struct RequestedLaunchConfig {
  dim3 grid, block;
  size_t shared = 0;  // dynamic, in bytes
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  std::optional<dim3> cluster = {};
};

// Runs the kernel to its end. Returns the errors that the real runtime returns immediately (a wrong
// shape, too many resources). A kernel's fault is stored in `runtime`. Throws Error if the kernel
// needs something that the simulator does not support.
cudaError_t launch(Runtime& runtime, KernelEntry& entry, const RequestedLaunchConfig& request,
                   void** args);

// Like launch(), but the launch runs later, possibly several times, in the stream given then.
// Arguments and device are those of this call. Throws Error as launch() does.
std::shared_ptr<DeferredKernelLaunch> make_deferred_launch(Runtime& runtime, KernelEntry& entry,
                                                           const void* function,
                                                           const RequestedLaunchConfig& request,
                                                           void** args);
cudaError_t launch(Runtime& runtime, DeferredKernelLaunch& call, cudaStream_t stream);

// Under `lab32 check`: the memory before a launch that find_stale_loads() will repeat. Null: the
// launch need not be repeated.
std::unique_ptr<device::SavedMemory> save_memory_for_stale_trial(Runtime& runtime,
                                                                 const device::KernelInfo& info);
struct PreparedLaunch {
  device::Kernel& kernel;
  const device::LaunchShape& shape;
  const std::vector<device::KernelArgument>& arguments;
  const device::LaunchOptions& options;
};
// Repeats the launch that has given `run`, and adds to its findings a load whose result depends on
// a fence that is missing.
void find_stale_loads(Runtime& runtime, const PreparedLaunch& launch, device::SavedMemory& before,
                      device::LaunchResult& run);

// The number of launches recorded so far.
uint64_t launches_recorded();

// The most dynamic shared memory that a block may use, in bytes: the amount that the program set,
// or the default.
uint64_t dynamic_shared_limit(const KernelEntry& entry, const device::KernelInfo& info);

// Registers of a thread. Throws Error if the program has no machine code for this device.
uint32_t registers_per_thread(const Runtime& runtime, const device::KernelInfo& info);

// The cluster's dimensions: from the launch if it specifies them, otherwise from the kernel,
// otherwise 1 x 1 x 1 with `explicitly` false. cudaErrorInvalidClusterSize: impossible dimensions.
// Throws Error if the device has no clusters.
cudaError_t find_cluster_shape(Runtime& runtime, const KernelEntry& entry,
                               const device::KernelInfo& info, const std::optional<dim3>& asked,
                               dim3* cluster, bool* explicitly);

// The most blocks that a cluster of this kernel may have.
uint32_t max_blocks_per_cluster(const KernelEntry& entry);

// The number of blocks that reside on a multiprocessor; 0: not even one block fits.
uint32_t resident_blocks_per_multiprocessor(Runtime& runtime, KernelEntry& entry, uint64_t threads,
                                            uint64_t shared);

}  // namespace lab32::cudart
