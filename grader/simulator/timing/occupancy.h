// Theoretical occupancy: how many blocks of a launch fit on one multiprocessor, and which resource
// limits them. NVIDIA's cuda_occupancy.h does the computation, for the GPU of a profile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "simulator/timing/profile.h"

namespace lab32::model {

struct Occupancy {
  // The number of resident blocks per multiprocessor: the least of launch__occupancy_limit_*.
  uint32_t blocks = 0;
  uint32_t warps = 0;      // resident warps per multiprocessor
  double theoretical = 0;  // warps in relation to the most that a multiprocessor holds, 0..1
  std::string limiter;     // "registers", "shared memory", "warps", "blocks", "barriers"; several
                           // that bind alike are joined by " and "
  uint32_t l1_bytes = 0;   // the L1 capacity that shared memory leaves at this many resident blocks
  uint32_t registers = 0;  // registers per thread, as ptxas allocated them
};

// Computes the occupancy. `registers`: registers per thread, from ptxas. `static_shared`,
// `dynamic_shared`: bytes per block. `carveout`: the percentage of the common L1 and shared memory
// that the kernel prefers as shared memory; -1: as much as increases the occupancy. Throws Error,
// which names the resource that is too large, if not even one block fits.
Occupancy occupancy(const DeviceProfile& profile, uint32_t threads_per_block, uint32_t registers,
                    uint32_t static_shared, uint32_t dynamic_shared, int carveout = -1);

// The bytes of dynamic shared memory that each of `blocks` resident blocks may have, at most
// `most`. nullopt: so many blocks do not fit even without dynamic shared memory. For more than one
// block cuda_occupancy.h does not subtract the driver's reserve per block, so fewer blocks may be
// resident if each requests the whole amount.
std::optional<uint64_t> available_dynamic_shared(const DeviceProfile& profile,
                                                 uint32_t threads_per_block, uint32_t registers,
                                                 uint32_t static_shared, uint64_t most,
                                                 uint32_t blocks);

// The number of clusters of `size` blocks that the device holds at once, with `blocks` resident
// blocks per multiprocessor. nullopt: the profile does not contain the data.
std::optional<uint64_t> active_clusters(const DeviceProfile& profile,
                                        uint32_t resident_blocks_per_sm, uint64_t size);

}  // namespace lab32::model
