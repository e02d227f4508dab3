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
  void lie_at(std::byte* place) {
    elsewhere_ = place;
    left_ = kNotCounted;
  }
  // The first `bytes` of `size` are undefined from now on, what lies behind them is not.
  void reset(size_t bytes, size_t size);
  // For who sets bits himself.
  std::byte* data() {
    left_ = kNotCounted;
    return place();
  }

  // All is defined: that much is known without a look at them.
  bool none() const { return left_ == 0; }
  // The lanes of `mask` of whose `bytes` some bit is undefined.
  uint32_t lanes(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) const;
  void define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes);
  // The same for one piece of memory.
  bool any(uint64_t first, size_t bytes) const;
  void define(uint64_t first, size_t bytes);

 private:
  static constexpr size_t kNotCounted = ~size_t{0};

  std::byte* place() { return elsewhere_ != nullptr ? elsewhere_ : bits_.data(); }
  const std::byte* place() const { return elsewhere_ != nullptr ? elsewhere_ : bits_.data(); }

  std::vector<std::byte> bits_;
  std::byte* elsewhere_ = nullptr;
  size_t left_ = kNotCounted;  // bytes with undefined bits
};

}  // namespace lab32::sim
