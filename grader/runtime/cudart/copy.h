// Copies and fills between the program's memory and the devices' memory. All functions check every
// row against its allocation first, and return the runtime's error.
#pragma once

#include <functional>

#include "runtime/cudart/arrays.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// Copies a box. All rows are checked before the first byte moves.
cudaError_t copy(Runtime& runtime, Box to, Box from, Extent extent, cudaMemcpyKind kind);
cudaError_t copy(Runtime& runtime, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
// Positions and extents count bytes, or elements if one side is an array.
cudaError_t copy(Runtime& runtime, const cudaMemcpy3DParms& parameters);
// The work of a call, which runs now or when the graph that captured it is launched.
using Body = std::function<cudaError_t(Runtime&)>;
cudaError_t run_in_stream(const char* name, cudaStream_t stream, const Body& body,
                          cudaGraphNodeType type = cudaGraphNodeTypeMemcpy,
                          Work::NodeParameters given = {});

// Fills a box with the low bytes of `value`, in elements of 1, 2 or 4 bytes.
cudaError_t fill(Runtime& runtime, Box to, Extent extent, unsigned value, unsigned element = 1);

}  // namespace lab32::cudart
