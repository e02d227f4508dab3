// Whether device memory holds the same as before, without a copy of it.
#pragma once

#include <cstdint>
#include <vector>

#include "simulator/core/memory/memory.h"

namespace lab32::sim {

struct AllocationDigest {
  uint32_t allocation;  // Allocation::index
  uint64_t digest;
  bool operator==(const AllocationDigest& b) const {
    return allocation == b.allocation && digest == b.digest;
  }
};

// Of the live allocations: who reaches them, their bytes and which of these were ever written; not
// of those that a launch fills in anew for itself (Allocation::scratch). An allocation that differs
// has the same digest with a probability of 2^-64. `threads`: of the host (0: all cores).
std::vector<AllocationDigest> digest(const Memory& memory, unsigned threads);
AllocationDigest digest(const Memory& memory, const Allocation& allocation, unsigned threads);

// How many bytes it reads.
uint64_t digest_bytes(const Memory& memory);

}  // namespace lab32::sim
