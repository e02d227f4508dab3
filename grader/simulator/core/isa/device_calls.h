// Functions of the device runtime that kernels call; each is executed for the lanes of a warp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

// Functions of the device runtime that programs call: vprintf and __assertfail.

class Warp;

// printf of the lanes in mask, in lane order, into the block's output; sets the call's result.
void device_printf(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// A failed assert(): ends the kernel with the message that the runtime would print.
[[noreturn]] void device_assert(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------
// malloc() and free() of the lanes of a warp.

class Warp;

// Thrown before the first of them where the order of the blocks is looked at: what the heap has
// given cannot be taken back, so the launch begins again without.
struct HeapTouched {};

// Lane by lane, in their order; sets the call's result. Throws OrderMatters where blocks run side
// by side: who comes first gets which address, and the last of the heap.
void device_malloc(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// Traps for what malloc() has not given.
void device_free(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------
// What the lanes of a warp do to launch a kernel, and to choose what the graph around it launches.

class Warp;

// Whose last error it is: the block, and the thread in it.
std::pair<uint64_t, uint32_t> thread_of(const Warp& warp, int lane);

// __cudaCDP2GetParameterBufferV2, __cudaCDP2LaunchDeviceV2: what nvcc makes of <<<>>> in a kernel.
// Lane by lane; they throw as device_malloc() does.
void device_prepare_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
void device_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// cudaGraphSetConditional: a handle is the address of the word that holds the condition.
void device_set_condition(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------
// The runtime on the device, but for launches: streams, events and memory that kernels make.

class Warp;

bool is_device_runtime(const std::string& name);
bool is_device_heap(const std::string& name);  // allocates or frees, as malloc() does

// Such a call, lane by lane; throws as device_malloc() does. Launches of a grid run one behind the
// other in the order of their calls, which is one that streams and events allow: there is nothing
// to wait for.
void device_runtime(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
