// The rounds of a timing, in the process that holds the GPU. gpu_stopwatch.h starts that process.
#pragma once

#include <string>

#include "compile/artifact.h"
#include "device/gpu_device.h"
#include "device/stopwatch.h"

namespace lab32::device {

// `helpers`: stopwatch_kernels.cu for this GPU; `yardsticks`: the library made of yardsticks.cu,
// for plans that name a yardstick.
//
// A round runs every contender and yardstick once, cold and then warm, in an order that turns from
// round to round. What every run starts from: outputs poisoned, variables of the module as its
// source initialises them, L2 full of something else, and the queue busy. Outputs are told apart by
// a digest taken after each run; the inputs' digests must be at the end what they were.
Timed run_rounds(Gpu& gpu, const TimingPlan& plan, const compile::Artifact& helpers,
                 const std::string& yardsticks);

}  // namespace lab32::device
