// A kernel launch, from what the program passes to what it leaves.
#pragma once

#include <memory>
#include <optional>

#include "runtime/cudart/graphs.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

struct LaunchRequest {
  dim3 grid, block;
  size_t shared = 0;  // dynamic, bytes
  cudaStream_t stream = nullptr;
  bool cooperative = false;
  std::optional<dim3> cluster = {};
};

// Runs it to its end. Reports what the real runtime reports at once (a bad shape, resources); a
// fault is kept in `runtime`. Throws Error when the simulator does not have what the kernel needs.
cudaError_t launch(Runtime& runtime, KernelEntry& entry, const LaunchRequest& request, void** args);

// The same, to be done later and more than once, in the stream that is then given: the arguments
// and the device are those of now. Throws Error likewise.
std::shared_ptr<KernelCall> prepare_launch(Runtime& runtime, KernelEntry& entry,
                                           const void* function, const LaunchRequest& request,
                                           void** args);
cudaError_t launch(Runtime& runtime, KernelCall& call, cudaStream_t stream);

// So far.
uint64_t launches_recorded();

// Dynamic shared memory a block may have: what was asked for, or what it gets without asking.
// Bytes.
uint64_t dynamic_shared_limit(const KernelEntry& entry, const device::KernelInfo& info);

// A thread's registers. Throws Error when the program has no machine code for this device.
uint32_t registers(const Runtime& runtime, const device::KernelInfo& info);

// The blocks of a cluster: what the launch asks for, if it does, or what the kernel needs; without
// either 1 x 1 x 1, and `explicitly` is false. cudaErrorInvalidClusterSize: it cannot be. Throws
// Error when the device has no clusters.
cudaError_t find_cluster(Runtime& runtime, const KernelEntry& entry, const device::KernelInfo& info,
                         const std::optional<dim3>& asked, dim3* cluster, bool* explicitly);

// Blocks of a cluster at most.
uint32_t cluster_limit(const KernelEntry& entry);

// Resident blocks a multiprocessor; 0: not one fits.
uint32_t resident_blocks(Runtime& runtime, KernelEntry& entry, uint64_t threads, uint64_t shared);

}  // namespace lab32::cudart
