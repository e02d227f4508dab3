// Of one instruction: how strong its accesses are in the PTX memory model (PTX ISA, "Memory
// Consistency Model").
#pragma once

#include <cstdint>

#include "simulator/ptx/module.h"

namespace lab32::ptx {

// Whose threads an operation concerns.
enum class Scope : uint8_t { block, cluster, device, system };

struct MemoryOrder {
  bool strong = false;  // may meet another strong access of a thread in both scopes
  bool acquire = false, release = false;
  Scope scope = Scope::device;
};

// Of loads, stores, updates and fences.
MemoryOrder memory_order(const Instruction& in);

}  // namespace lab32::ptx
