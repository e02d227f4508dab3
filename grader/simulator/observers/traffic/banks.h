// Wavefronts of a warp-wide access to shared memory, as the hardware counts them in
// l1tex__data_pipe_lsu_wavefronts_mem_shared_op_* for a single warp. Nsight Compute's own
// memory_l1_wavefronts_shared is equal except for some 8- and 16-byte loads, where it is an
// estimate that the hardware counter contradicts (data/measured/counters/README.md). The functions
// are pure. They take 32 offsets in the block's shared memory, the bytes per lane and the mask of
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
  uint32_t ideal = 0;      // wavefronts that these lanes would take without bank conflicts
  bool estimated = false;  // counted by a rule that is wrong for some measured patterns
};

// An access of up to 4 bytes per lane is one phase; 8 bytes per lane take two phases of a half-warp
// each, 16 bytes four phases of a quarter-warp each. A phase is at most 128 bytes, so that each
// bank can be used once. It takes as many wavefronts as there are distinct words in its fullest
// bank. Two neighbouring phases of a load merge into one if, for every active lane l, lane l ^ 1 is
// inactive or has the same address, or if this holds for lane l ^ 2.
Wavefronts load_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                           uint32_t elsewhere = 0);
Wavefronts store_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask);

// Lanes of an atomic never share a wavefront in a bank, not even on one word. Increments by the
// constant 1 do share on one word. A compare-and-swap takes two wavefronts for each lane, but
// inside a loop (spin_swap) two in total, since one lane of each bank succeeds.
Wavefronts atomic_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask,
                             sim::SharedAtomicForm form = sim::SharedAtomicForm::plain);

// ldmatrix and stmatrix: lanes 8m to 8m+7 give the 16-byte rows of matrix m.
Wavefronts matrix_wavefronts(const uint64_t* offset, uint32_t mask);

// The store of an asynchronous copy (LDGSTS). Through L1 it follows the rule of atomics: lanes
// never share. If it bypasses L1, whole sectors of 32 bytes go from a 128-byte line of global
// memory to a row of the banks, and sectors share a wavefront if the same exclusive or maps their
// positions in the line to their positions in the row, as in a swizzle by rows. The rule for half
// sectors is an estimate: right for three in four of the measured random patterns, and off by at
// most a third.
Wavefronts async_copy_wavefronts(const uint64_t* from, const uint64_t* to, uint32_t bytes,
                                 uint32_t mask, bool bypass_l1);

// The conflict degree of each bank: the number of distinct words (for atomics: of lanes) that one
// phase accesses in it, in the phase with the most.
std::array<uint32_t, kBanks> bank_conflict_degrees(const uint64_t* offset, uint32_t bytes,
                                                   uint32_t mask, sim::AccessKind kind,
                                                   bool matrix);

Wavefronts shared_wavefronts(const sim::IssuedWarpAccess& access);

}  // namespace lab32::counters
