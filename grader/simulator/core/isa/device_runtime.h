// The runtime on the device, but for launches: streams, events and memory that kernels make.
#pragma once

#include <cstdint>
#include <string>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

class Warp;

bool is_device_runtime(const std::string& name);
bool is_device_heap(const std::string& name);  // allocates or frees, as malloc() does

// Such a call, lane by lane; throws as device_malloc() does. Launches of a grid run one behind the
// other in the order of their calls, which is one that streams and events allow: there is nothing
// to wait for.
void device_runtime(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
