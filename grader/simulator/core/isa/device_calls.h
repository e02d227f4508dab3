// Functions of the device runtime that kernels call: printf and assert, malloc and free, launches
// by kernels, streams and events. Each function here executes the call for the lanes in `mask`, in
// lane order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

class Warp;

// vprintf: appends the text of each lane to the block's output and sets the call's result.
void device_printf(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// __assertfail: ends the kernel with the message that the runtime would print.
[[noreturn]] void device_assert(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------

class Warp;

// Thrown by the first malloc or free of a launch that replays its blocks for race detection. A heap
// allocation cannot be undone, so the launch starts again without that detection.
struct HeapTouched {};

// malloc: sets the call's result. Throws OrderMatters when blocks run in parallel, because the
// order of the blocks decides their addresses and which call exhausts the heap.
void device_malloc(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// free: traps for an address that malloc() did not return.
void device_free(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------

class Warp;

// The index of the lane's block and of its thread in the block: the key under which the runtime
// keeps the thread's last error.
std::pair<uint64_t, uint32_t> block_and_thread_of_lane(const Warp& warp, int lane);

// __cudaCDP2GetParameterBufferV2 and __cudaCDP2LaunchDeviceV2: nvcc compiles <<<>>> in a kernel to
// these two calls. Both throw as device_malloc() does.
void device_prepare_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
void device_launch(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// Executes cudaGraphSetConditional(). A handle is the address of the word that holds the condition.
void device_set_graph_condition(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

// ---------------------------------------------------------------------------------------------
// The other functions of the device runtime: streams, events and memory operations.

class Warp;

bool is_device_runtime(const std::string& name);
bool is_kernel_malloc_function(const std::string& name);  // allocates or frees heap memory

// Executes such a call; throws as device_malloc() does. The launches of a grid run one after the
// other in call order. Streams and events always permit this order, so a wait for them has nothing
// to do.
void call_device_runtime(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
