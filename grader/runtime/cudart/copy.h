// Copies and fills between the program's memory and the device's.
#pragma once

#include <functional>

#include "runtime/cudart/arrays.h"
#include "runtime/cudart/runtime.h"

namespace lab32::cudart {

// Every row is checked against the allocation that it lies in before the first byte moves.
cudaError_t copy(Runtime& runtime, Box to, Box from, Extent extent, cudaMemcpyKind kind);
cudaError_t copy(Runtime& runtime, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
// Positions and extents count bytes, or, where there is an array, its elements.
cudaError_t copy(Runtime& runtime, const cudaMemcpy3DParms& parameters);
// What a call does, now or when the graph that it was captured in is launched.
using Body = std::function<cudaError_t(Runtime&)>;
cudaError_t in_stream(const char* name, cudaStream_t stream, const Body& body,
                      cudaGraphNodeType type = cudaGraphNodeTypeMemcpy, Work::Given given = {});

// With the low bytes of `value`, an element of 1, 2 or 4.
cudaError_t fill(Runtime& runtime, Box to, Extent extent, unsigned value, unsigned element = 1);

}  // namespace lab32::cudart
