// The addresses of a whole warp where they need no list.
#pragma once

#include <cstdint>

namespace lab32::sim {

// How the addresses of all 32 lanes lie, each half-warp's by itself (a block of 16 x 16 threads):
// lane l's of a half at first + l * stride.
struct WarpRow {
  uint64_t first[2] = {0, 0};
  uint64_t stride = kIrregular;
  static constexpr uint64_t kIrregular = uint64_t{1} << 63, kHalf = 16;

  bool is_one_row() const { return first[1] == first[0] + kHalf * stride; }
  void write_to(uint64_t* address) const {
    for (uint64_t half = 0; half < 2; ++half)
      for (uint64_t l = 0; l < kHalf; ++l) address[half * (kHalf) + l] = first[half] + l * stride;
  }
};

}  // namespace lab32::sim
