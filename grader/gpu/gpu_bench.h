// The rounds of a timing, in the process that holds the GPU. gpu_timer.h starts that process.
#pragma once

#include <string>

#include "base/work.h"
#include "gpu/gpu_device.h"
#include "gpu/timer.h"
#include "toolchain/artifact.h"

namespace lab32::device {

// `helpers`: timer_kernels.cu for this GPU; `baselines`: the library made of baselines.cu, for
// plans that name a baseline; `kept`: where outputs go.
//
// A round runs every candidate and baseline once, cold and then warm, in an order that turns from
// round to round. What every run starts from: outputs poisoned, variables of the module as its
// source initialises them, L2 full of something else, and the queue busy. Outputs are told apart by
// a digest taken after each run; the inputs' digests must be at the end what they were.
Timed run_rounds(Gpu& gpu, const TimingPlan& plan, const toolchain::Artifact& helpers,
                 const std::string& baselines, const SharedRegion& kept);

}  // namespace lab32::device
