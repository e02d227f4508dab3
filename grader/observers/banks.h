// How many wavefronts shared memory needs for a warp-wide access: the rules behind Nsight Compute's
// memory_l1_wavefronts_shared and memory_l1_wavefronts_shared_ideal. Pure functions of 32 offsets
// in the block's shared memory, the bytes a lane accesses and the mask of active lanes; offsets are
// multiples of `bytes`.
#pragma once

#include <cstdint>

#include "sim/events.h"

namespace lab32::observe {

constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;

struct Wavefronts {
  uint32_t actual = 0;
  uint32_t ideal = 0;  // what the same lanes would need without bank conflicts
};

// Loads and stores of up to 4 bytes a lane are served at once, of 8 bytes a half-warp at a time, of
// 16 bytes a quarter-warp at a time: 128 bytes, all banks once, in each phase. A phase takes as
// many wavefronts as the fullest bank has distinct words.
Wavefronts load_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask);
Wavefronts store_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask);

// Lanes of an atomic never share a wavefront in a bank, not even on one word.
Wavefronts atomic_wavefronts(const uint64_t* offset, uint32_t bytes, uint32_t mask);

// ldmatrix and stmatrix: lanes 8m to 8m+7 give the 16-byte rows of matrix m.
Wavefronts matrix_wavefronts(const uint64_t* offset, uint32_t mask);

Wavefronts shared_wavefronts(const sim::Access& access);

}  // namespace lab32::observe
