// Theoretical occupancy: how many blocks of a launch fit on one multiprocessor, and what stops
// more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/timing/profile.h"

namespace lab32::model {

struct Occupancy {
  uint32_t blocks = 0;     // launch__occupancy_limit_*'s least: resident blocks per multiprocessor
  uint32_t warps = 0;      // their warps
  double theoretical = 0;  // warps over the most a multiprocessor holds, 0..1
  std::string limiter;     // "registers", "shared memory", "warps", "blocks", "barriers"; several
                           // that bind alike are joined by " and "
  uint32_t l1_bytes = 0;   // what shared memory leaves for L1 at this many resident blocks
  uint32_t registers = 0;  // per thread, as ptxas allocated them
};

// `registers`: per thread, from ptxas; `static_shared`, `dynamic_shared`: bytes per block. Computed
// by the toolkit's own cuda_occupancy.h. `carveout`: percent of what L1 and shared memory have
// together that the kernel prefers for the latter, -1: as much as helps. Throws Error naming what
// is too large when not one block fits.
Occupancy occupancy(const Profile& profile, uint32_t threads_per_block, uint32_t registers,
                    uint32_t static_shared, uint32_t dynamic_shared, int carveout = -1);

// Bytes of dynamic shared memory each of `blocks` resident blocks may have, at most `most`.
// nullopt: so many blocks do not fit even without. By cuda_occupancy.h, which for several blocks
// does not subtract what the driver reserves for each: a block that asks for all of it may reside
// with fewer.
std::optional<uint64_t> available_dynamic_shared(const Profile& profile, uint32_t threads_per_block,
                                                 uint32_t registers, uint32_t static_shared,
                                                 uint64_t most, uint32_t blocks);

// How many clusters of `size` blocks the device holds at once, at so many blocks a multiprocessor.
// nullopt: the profile does not tell.
std::optional<uint64_t> active_clusters(const Profile& profile, uint32_t blocks, uint64_t size);

}  // namespace lab32::model
