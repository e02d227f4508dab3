// Updates of memory by the copy engine and by red.async: one element at a time.
#pragma once

#include <cstddef>

#include "simulator/ptx/module.h"

namespace lab32::sim {

struct Reduction {
  void (*apply)(std::byte* at, const std::byte* value) = nullptr;  // null: a copy
  unsigned bytes = 0;                                              // of an element

  explicit operator bool() const { return apply != nullptr; }
};

// The operation that the instruction's modifiers name, on elements of that type; none: the PTX ISA
// has no such reduction.
Reduction reduction_of(const ptx::Instruction& in, ptx::Type type);

}  // namespace lab32::sim
