// Whether the lanes of a full warp touch neighbouring pieces of memory, the common case.
#pragma once

#include <cstdint>

namespace lab32::sim {

inline bool contiguous(const uint64_t* address, unsigned bytes) {
  uint64_t off = 0;
  for (uint64_t l = 0; l < 32; ++l) off |= address[l] ^ (address[0] + l * bytes);
  return off == 0;
}

}  // namespace lab32::sim
