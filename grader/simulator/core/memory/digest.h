// Digests of device memory: they tell whether its contents changed without keeping a copy.
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

// The digests of all live allocations except scratch ones (Allocation::scratch), which each launch
// fills in itself. A digest covers the devices that can access the allocation, its bytes, and which
// bytes were ever written. Two different allocations have equal digests with a probability of
// 2^-64. `threads`: host threads to use (0: all cores).
std::vector<AllocationDigest> digest(const Memory& memory, unsigned threads);
AllocationDigest digest(const Memory& memory, const Allocation& allocation, unsigned threads);

// The number of bytes that digest() reads.
uint64_t digest_bytes(const Memory& memory);

}  // namespace lab32::sim
