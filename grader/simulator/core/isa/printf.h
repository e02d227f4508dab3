// Functions of the device runtime that programs call: vprintf and __assertfail.
#pragma once

#include <cstdint>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

class Warp;

// printf of the lanes in mask, in lane order, into the block's output; sets the call's result.
void device_printf(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// A failed assert(): ends the kernel with the message that the runtime would print.
[[noreturn]] void device_assert(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
