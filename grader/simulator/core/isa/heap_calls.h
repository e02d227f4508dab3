// malloc() and free() of the lanes of a warp.
#pragma once

#include <cstdint>

#include "simulator/core/warp/kernel_program.h"

namespace lab32::sim {

class Warp;

// Thrown before the first of them where the order of the blocks is looked at: what the heap has
// given cannot be taken back, so the launch begins again without.
struct HeapTouched {};

// Lane by lane, in their order; sets the call's result. Throws OrderMatters where blocks run side
// by side: who comes first gets which address, and the last of the heap.
void device_malloc(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);
// Traps for what malloc() has not given.
void device_free(Warp& warp, const Inst& in, const CallSite& site, uint32_t mask);

}  // namespace lab32::sim
