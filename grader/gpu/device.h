// A GPU through the CUDA driver API, and the rounds of a timing on it.
#pragma once

#include <memory>
#include <string>

#include "base/work.h"
#include "device/device.h"
#include "gpu/driver_api.h"
#include "gpu/timer.h"

namespace lab32::device {

// A GPU as a Device, and what the timer needs besides.
//
// What it gives less than the simulator: Run has no counters and no hazards, a Fault no position
// (the hardware reports the kind alone), and memory is neither guarded nor watched for
// initialisation. A kernel that never ends is not stopped.
//
// A kernel's fault costs the process its GPU: the launch still reports it, then every call is an
// Error that says so (release() and destructors are allowed). Not even a new context helps within
// the process. So graders use it in a child process (timer_process.cpp).
class Gpu : public Device {
 public:
  // Starts a kernel on the default stream and does not wait. nullopt: it has been started.
  virtual std::optional<Fault> enqueue(Kernel& kernel, const Shape& shape,
                                       const std::vector<Arg>& args) = 0;
  // Waits for all that was started. `kernel` is the name a fault is reported under.
  virtual std::optional<Fault> wait(const std::string& kernel) = 0;
  virtual const cuda::DriverApi& api() const = 0;
  virtual cuda::Device ordinal() const = 0;
};

struct GpuSearch {
  std::unique_ptr<Gpu> device;  // null: there is none
  std::string reason;           // why not: "no CUDA driver (libcuda.so.1) on this machine"
};

// The first GPU (CUDA_VISIBLE_DEVICES decides which that is).
GpuSearch find_gpu();

// The rounds of a timing, in the process that holds the GPU. `helpers`: timer_kernels.cu for this
// GPU; `baselines`: the library made of baselines.cu, for plans that name a baseline; `kept`: where
// outputs go.
//
// A round runs every candidate and baseline once, cold and then warm, in an order that turns from
// round to round. What every run starts from: outputs poisoned, variables of the module as its
// source initialises them, L2 full of something else, and the queue busy. Outputs are told apart by
// a digest taken after each run; the inputs' digests must be at the end what they were.
Timed run_rounds(Gpu& gpu, const TimingPlan& plan, const toolchain::Artifact& helpers,
                 const std::string& baselines, const SharedRegion& output_region);

}  // namespace lab32::device
