// How many wavefronts shared memory needs for a warp-wide access: what the hardware counts as
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_* for a lone warp. Nsight Compute's own
// memory_l1_wavefronts_shared is the same but for some 8- and 16-byte loads, where it is an
// estimate that the hardware's counter does not bear out (data/measured/counters/README.md). Pure
// functions of 32 offsets in the block's shared memory, the bytes a lane accesses and the mask of
// active lanes; offsets are multiples of `bytes`.
#pragma once

#include <array>
#include <cstdint>

#include "simulator/core/warp/events.h"

namespace lab32::counters {

constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;

struct Wavefronts {
  uint32_t actual = 0;
  uint32_t ideal = 0;      // what the same lanes would need without bank conflicts
  bool estimated = false;  // by a rule that was seen to be off now and then
};

// Loads and stores of up to 4 bytes per lane are served at once, of 8 bytes a half-warp at a time,
// of 16 bytes a quarter-warp at a time: 128 bytes, all banks once, in each phase. A phase takes as
// many wavefronts as the fullest bank has distinct words. Loads merge neighbouring phases if every
// active lane finds lane ^ 1 idle or at its own address, or every one finds lane ^ 2 so.
Wavefronts load_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                           uint32_t elsewhere = 0);
Wavefronts store_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask);

// Lanes of an atomic never share a wavefront in a bank, not even on one word. Adding the constant 1
// (increment) lanes of one word do share; a compare-and-swap takes two wavefronts for each lane,
// and inside a loop (spin_swap) two for the lot, since one lane a bank gets through.
Wavefronts atomic_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                             sim::AtomicForm form = sim::AtomicForm::plain);

// ldmatrix and stmatrix: lanes 8m to 8m+7 give the 16-byte rows of matrix m.
Wavefronts matrix_wavefronts(const uint64_t* offset, uint32_t mask);

// The store of an asynchronous copy (LDGSTS). Through L1, it is served as an atomic: lanes never
// share. Past L1, whole sectors of 32 bytes go from a 128-byte line of global memory to a row of
// the banks; those share a wavefront that change their place within it alike (by the same
// exclusive or), as a swizzle by rows does. Of half sectors the rule is an estimate: right for
// three in four of the random patterns that were measured, off by a third at most.
Wavefronts copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t bytes, uint32_t mask,
                           bool bypass_l1);

// How many words of each bank are wanted at once, in the phase in which that are most: its conflict
// degree; of atomics, how many lanes want it.
std::array<uint32_t, kBanks> bank_degrees(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                                          sim::AccessKind kind, bool matrix);

Wavefronts shared_wavefronts(const sim::Access& access);

}  // namespace lab32::counters
