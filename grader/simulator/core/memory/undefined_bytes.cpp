#include "simulator/core/memory/undefined_bytes.h"

#include <algorithm>
#include <cstring>

#include "simulator/core/memory/contiguous.h"

namespace lab32::sim {
namespace {

constexpr uint32_t kWholeWarp = 0xffffffffu;

bool any_set(const std::byte* bits, size_t bytes) {
  uint64_t all = 0;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    uint64_t word;
    std::memcpy(&word, bits + i, 8);
    all |= word;
  }
  for (; i < bytes; ++i) all |= static_cast<uint64_t>(bits[i]);
  return all != 0;
}

// Whether any lane's bytes have a bit set: the usual answer is no, and has to be quick.
template <class Word>
bool any_lane_set(const std::byte* bits, const uint64_t* address, size_t stride, uint32_t mask) {
  Word all = 0;
  if (mask == kWholeWarp) {
    for (size_t l = 0; l < 32; ++l) {
      Word word;
      std::memcpy(&word, bits + address[l] + l * stride, sizeof word);
      all |= word;
    }
    return all != 0;
  }
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    Word word;
    std::memcpy(&word, bits + address[l] + l * stride, sizeof word);
    all |= word;
  }
  return all != 0;
}

}  // namespace

void UndefinedBytes::reset(size_t bytes, size_t size) {
  bits_.resize(size);
  left_ = bytes;
  std::memset(bits_.data(), 0xff, bytes);
  std::memset(bits_.data() + bytes, 0, size - bytes);
}

bool UndefinedBytes::any(uint64_t first, size_t bytes) const {
  return any_set(place() + first, bytes);
}

uint32_t UndefinedBytes::lanes(const uint64_t* address, size_t stride, uint32_t mask,
                               unsigned bytes) const {
  if (mask == kWholeWarp && stride == 0 && contiguous(address, bytes) &&
      !any_set(place() + address[0], size_t{bytes} * 32))
    return 0;
  const uint64_t first = address[__builtin_ctz(mask)];
  if (stride == 0 && !any_set(place() + first, bytes)) {  // one word for all lanes
    uint64_t others = 0;
    for (uint32_t r = mask; r; r &= r - 1) others |= address[__builtin_ctz(r)] ^ first;
    if (others == 0) return 0;
  }
  if (bytes == 4 && !any_lane_set<uint32_t>(place(), address, stride, mask)) return 0;
  if (bytes == 8 && !any_lane_set<uint64_t>(place(), address, stride, mask)) return 0;
  uint32_t found = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    if (any_set(place() + address[l] + l * stride, bytes)) found |= 1u << l;
  }
  return found;
}

void UndefinedBytes::define(uint64_t first, size_t bytes) {
  if (left_ == 0) return;
  std::byte* const at = place() + first;
  if (left_ != kNotCounted) {
    if (!any_set(at, bytes)) return;
    left_ -= bytes - static_cast<size_t>(std::count(at, at + bytes, std::byte{0}));
  }
  std::memset(at, 0, bytes);
}

void UndefinedBytes::define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) {
  if (left_ == 0) return;
  if (mask == kWholeWarp && stride == 0 && contiguous(address, bytes))
    return define(address[0], size_t{bytes} * 32);
  if (mask == kWholeWarp && bytes == 4 && left_ != kNotCounted &&
      !any_lane_set<uint32_t>(place(), address, stride, mask))
    return;
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    define(address[l] + l * stride, bytes);
  }
}

}  // namespace lab32::sim
