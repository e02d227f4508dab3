// Copies and fills between the program's memory and the device's.
#pragma once

#include "cudart/runtime.h"

namespace lab32::cudart {

// A box of bytes in memory: rows of `pitch` bytes, slices of `slice` bytes.
struct Box {
  uint64_t begin = 0;
  uint64_t pitch = 0, slice = 0;
};
struct Extent {
  uint64_t width = 0, height = 1, depth = 1;  // bytes, rows, slices
};

// Every row is checked against the allocation that it lies in before the first byte moves.
cudaError_t copy(Runtime& runtime, Box to, Box from, Extent extent, cudaMemcpyKind kind);
cudaError_t copy(Runtime& runtime, void* to, const void* from, uint64_t bytes, cudaMemcpyKind kind);
// Positions and extents count bytes. Throws Error for arrays.
cudaError_t copy(Runtime& runtime, const cudaMemcpy3DParms& parameters);
cudaError_t fill(Runtime& runtime, Box to, Extent extent, int value);

}  // namespace lab32::cudart
