// A GPU through the CUDA driver API, and the rounds in which kernels are timed on it. Use it in a
// child process only (timer_process.cpp): a kernel's fault costs the process its GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/work.h"
#include "device/device.h"
#include "gpu/driver_api.h"
#include "gpu/timer.h"

namespace lab32::device {

// A GPU as a Device, with the functions that the timer needs besides.
//
// It gives less than the simulator: LaunchResult has no counters and no hazards, a KernelFault has
// no position (the hardware reports only the kind), and memory is neither guarded nor checked for
// initialisation. A kernel that never ends is not stopped.
//
// After a kernel's fault the launch still reports it, and every later call throws an Error that
// says so (release() and destructors are allowed). Even a new context does not help within the
// process.
class Gpu : public Device {
 public:
  // Starts a kernel on the default stream without waiting. nullopt: it has started.
  virtual std::optional<KernelFault> enqueue(Kernel& kernel, const LaunchShape& shape,
                                             const std::vector<KernelArgument>& args) = 0;
  // Waits for all started kernels. `kernel` is the name under which a fault is reported.
  virtual std::optional<KernelFault> wait(const std::string& kernel) = 0;
  virtual const cuda::DriverApi& api() const = 0;
  virtual cuda::Device ordinal() const = 0;
};

struct GpuSearchResult {
  std::unique_ptr<Gpu> device;  // null: there is none
  std::string reason;  // why there is none: "no CUDA driver (libcuda.so.1) on this machine"
};

// The first GPU; CUDA_VISIBLE_DEVICES decides which that is.
GpuSearchResult find_gpu();

// Runs the rounds of a timing, in the process that holds the GPU. `helpers` is timer_kernels.cu
// compiled for this GPU; `baselines` is the library made of baselines.cu, for plans with a
// baseline; outputs are written to `output_region`.
//
// A round runs every candidate and baseline once cold and once warm, in an order that rotates from
// round to round. Before every run the outputs are poisoned, the variables of the module are
// initialised as in its source, L2 is full of other data, and the queue is busy. A digest after
// each run tells outputs apart; the digests of the inputs must not have changed at the end.
GpuTimingResult run_timing_rounds(Gpu& gpu, const TimingPlan& plan,
                                  const toolchain::CompiledArtifact& helpers,
                                  const std::string& baselines,
                                  const ForkSharedMemory& output_region);

// ---- kernels of a PTX text ----

// Lists the kernels of a PTX text with the sizes of their parameters, without parsing instructions:
// a GPU runs programs whose instructions the simulator does not support. Throws Error for a
// parameter that it does not understand.

struct KernelSignature {
  std::string symbol;  // mangled, as in the PTX
  std::vector<uint32_t> parameter_bytes;
};

std::vector<KernelSignature> read_kernel_entry_points(const std::string& ptx);

}  // namespace lab32::device
