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
  // From now on they lie there, and the caller resets them.
  void lie_at(std::byte* place) { elsewhere_ = place; }
  // The first `bytes` of `size` are undefined from now on, what lies behind them is not.
  void reset(size_t bytes, size_t size);
  std::byte* data() { return elsewhere_ != nullptr ? elsewhere_ : bits_.data(); }

  // The lanes of `mask` of whose `bytes` some bit is undefined.
  uint32_t lanes(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) const;
  void define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes);

 private:
  const std::byte* data() const { return elsewhere_ != nullptr ? elsewhere_ : bits_.data(); }

  std::vector<std::byte> bits_;
  std::byte* elsewhere_ = nullptr;
};

}  // namespace lab32::sim
