// Copies and fills between the program's memory and the devices' memory. All functions check every
// row against its allocation first, and return the runtime's error.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/cudart/arrays.h"
#include "runtime/cudart/runtime.h"
#include "simulator/core/memory/memory.h"

namespace lab32::cudart {

// Finds bytes that a copy takes to the host although nothing has written them. Padding of
// structures does not count: a kernel that writes all members leaves it as it is.

struct UnwrittenBytes {
  uint64_t first;  // offset of the first unwritten byte in the allocation
  uint64_t bytes;
};
// nullopt: all bytes of the box, which lies in this allocation, are written.
std::optional<UnwrittenBytes> find_unwritten(const sim::Memory& memory, const sim::Allocation& in,
                                             const PitchedAddress& box, const CopyExtent& extent);

// Ranges of unwritten bytes, {begin, end}, in order.
using Gaps = std::vector<std::pair<uint64_t, uint64_t>>;
// Whether the gaps of a range of `bytes` can be the padding of an array of structures: they repeat
// in each structure, and each fills the space in front of an aligned member.
bool may_be_padding(const Gaps& gaps, uint64_t bytes);

// ---------------------------------------------------------------------------------------------

// Copies a box. All rows are checked before the first byte moves.
cudaError_t copy(Runtime& runtime, PitchedAddress to, PitchedAddress from, CopyExtent extent,
                 cudaMemcpyKind kind);
cudaError_t copy(Runtime& runtime, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
// Positions and extents count bytes, or elements if one side is an array.
cudaError_t copy(Runtime& runtime, const cudaMemcpy3DParms& parameters);
// The work of a call, which runs now or when the graph that captured it is launched.
using Body = std::function<cudaError_t(Runtime&)>;
cudaError_t run_or_capture_in_stream(const char* name, cudaStream_t stream, const Body& body,
                                     cudaGraphNodeType type = cudaGraphNodeTypeMemcpy,
                                     NodeWork::NodeParameters given = {});

// Fills a box with the low bytes of `value`, in elements of 1, 2 or 4 bytes.
cudaError_t fill(Runtime& runtime, PitchedAddress to, CopyExtent extent, unsigned value,
                 unsigned element = 1);

}  // namespace lab32::cudart
