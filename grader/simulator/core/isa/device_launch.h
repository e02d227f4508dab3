// What the lanes of a warp do to launch a kernel, and to choose what the graph around it launches.
#pragma once

#include <cstdint>
#include <utility>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

class Warp;

// Whose last error it is: the block, and the thread in it.
std::pair<uint64_t, uint32_t> thread_of(const Warp& warp, int lane);

// __cudaCDP2GetParameterBufferV2, __cudaCDP2LaunchDeviceV2: what nvcc makes of <<<>>> in a kernel.
// Lane by lane; they throw as device_malloc() does.
void device_prepare_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
void device_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// cudaGraphSetConditional: a handle is the address of the word that holds the condition.
void device_set_condition(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
