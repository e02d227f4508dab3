// Which bits of a block's shared memory, or of a warp's local memory, nobody has given a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lab32::sim {

// A byte for each byte of memory, with the undefined bits set. Lane l's place of address a is
// a + l * stride.
class UndefinedBytes {
 public:
  bool kept() const { return !bits_.empty(); }
  // The first `bytes` of `size` are undefined from now on, what lies behind them is not.
  void reset(size_t bytes, size_t size);
  std::byte* data() { return bits_.data(); }

  // The lanes of `mask` of whose `bytes` some bit is undefined.
  uint32_t lanes(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) const;
  void define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes);

 private:
  std::vector<std::byte> bits_;
};

}  // namespace lab32::sim
