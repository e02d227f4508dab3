#include "simulator/core/memory/undefined_bytes.h"

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
  std::memset(bits_.data(), 0xff, bytes);
  std::memset(bits_.data() + bytes, 0, size - bytes);
}

uint32_t UndefinedBytes::lanes(const uint64_t* address, size_t stride, uint32_t mask,
                               unsigned bytes) const {
  if (mask == kWholeWarp && stride == 0 && contiguous(address, bytes) &&
      !any_set(data() + address[0], size_t{bytes} * 32))
    return 0;
  const uint64_t first = address[__builtin_ctz(mask)];
  if (stride == 0 && !any_set(data() + first, bytes)) {  // one word for all lanes
    uint64_t others = 0;
    for (uint32_t r = mask; r; r &= r - 1) others |= address[__builtin_ctz(r)] ^ first;
    if (others == 0) return 0;
  }
  if (bytes == 4 && !any_lane_set<uint32_t>(data(), address, stride, mask)) return 0;
  if (bytes == 8 && !any_lane_set<uint64_t>(data(), address, stride, mask)) return 0;
  uint32_t found = 0;
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    if (any_set(data() + address[l] + l * stride, bytes)) found |= 1u << l;
  }
  return found;
}

void UndefinedBytes::define(const uint64_t* address, size_t stride, uint32_t mask, unsigned bytes) {
  if (mask == kWholeWarp && stride == 0 && contiguous(address, bytes)) {
    std::memset(data() + address[0], 0, size_t{bytes} * 32);
    return;
  }
  for (uint32_t r = mask; r; r &= r - 1) {
    const auto l = static_cast<unsigned>(__builtin_ctz(r));
    std::byte* const at = data() + address[l] + l * stride;
    if (bytes == 4)
      std::memset(at, 0, 4);  // one store
    else
      std::memset(at, 0, bytes);
  }
}

}  // namespace lab32::sim
