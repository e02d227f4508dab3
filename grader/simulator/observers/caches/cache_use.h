// How the caches treat an instruction, and what they have found for groups of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lab32::counters {

// What the caches do with an instruction, by site.
struct CacheUse {
  bool skips_l1 = false;  // .cg, .cv, volatile, and what is ordered beyond the block
  bool on_float = false;  // atomics
  uint8_t group = 0;      // below kLoadGroups: whose hits its own are counted with
};

// What loads of some instructions found.
constexpr size_t kLoadGroups = 32;
struct LoadGroup {
  uint64_t asked = 0, hits = 0;  // sectors, in L1
  // Accesses; those that wait for L2, because one of their sectors has missed or is still to come;
  // and of these, for device memory.
  uint64_t accesses = 0, waiting = 0, late = 0;
  uint64_t first = 0, first_waiting = 0, first_late = 0;  // each warp's first ones among these
  uint64_t cycles = 0;                                    // that L1 is busy with them
};

}  // namespace lab32::counters
