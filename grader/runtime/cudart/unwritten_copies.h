// Finds bytes that a copy takes to the host although nothing has written them. Padding of
// structures does not count: a kernel that writes all members leaves it as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

struct Box;  // arrays.h
struct Extent;

struct UnwrittenBytes {
  uint64_t first;  // the offset of the first in the allocation
  uint64_t bytes;
};
// nullopt: the box, which lies in this allocation, has none.
std::optional<UnwrittenBytes> find_unwritten(const sim::Memory& memory, const sim::Allocation& in,
                                             const Box& box, const Extent& extent);

// Ranges of unwritten bytes, {begin, end}, in order.
using Gaps = std::vector<std::pair<uint64_t, uint64_t>>;
// Whether the gaps of a range of `bytes` can be the padding of an array of structures: they repeat
// in each structure, and each fills the space in front of an aligned member.
bool may_be_padding(const Gaps& gaps, uint64_t bytes);

}  // namespace lab32::cudart
