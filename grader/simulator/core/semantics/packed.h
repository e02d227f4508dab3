// Packed integers: two or four elements in a 32-bit register.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace lab32::sim {

// Element i of the N in a word, extended as its type says.
template <int N, bool is_signed>
inline int32_t element(uint32_t word, int i) {
  constexpr int bits = 32 / N;
  const uint32_t raw = word >> (i * bits) & ((uint32_t{1} << bits) - 1);
  if (!is_signed) return static_cast<int32_t>(raw);
  return static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
}

template <int N, class F>
inline uint32_t pack(F f) {
  constexpr int bits = 32 / N;
  uint32_t word = 0;
  for (int i = 0; i < N; ++i)
    word |= (static_cast<uint32_t>(f(i)) & ((uint32_t{1} << bits) - 1)) << (i * bits);
  return word;
}

// add.u16x2, add.s16x2: no carry from one half to the other.
struct AddX2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack<2>([&](int i) { return element<2, false>(a, i) + element<2, false>(b, i); });
  }
};

// relu: a negative result becomes 0.
template <bool is_signed, bool relu>
struct MinX2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack<2>([&](int i) {
      const int32_t least = std::min(element<2, is_signed>(a, i), element<2, is_signed>(b, i));
      return relu ? std::max(least, 0) : least;
    });
  }
};
template <bool is_signed, bool relu>
struct MaxX2 {
  static uint32_t apply(uint32_t a, uint32_t b) {
    return pack<2>([&](int i) {
      const int32_t most = std::max(element<2, is_signed>(a, i), element<2, is_signed>(b, i));
      return relu ? std::max(most, 0) : most;
    });
  }
};
struct MinRelu {
  static int32_t apply(int32_t a, int32_t b) { return std::max(std::min(a, b), 0); }
};
struct MaxRelu {
  static int32_t apply(int32_t a, int32_t b) { return std::max(std::max(a, b), 0); }
};

// cvt.pack.sat: a above b, each kept in the range of the narrow type; c's low bits above both.
template <class Narrow>
struct Narrowed {
  static constexpr int kBits = 8 * sizeof(Narrow);
  static uint32_t one(int32_t v) {
    using Range = std::numeric_limits<Narrow>;
    const auto kept = std::clamp<int32_t>(v, Range::min(), Range::max());
    return static_cast<uint32_t>(kept) & ((uint32_t{1} << kBits) - 1);
  }
  static uint32_t pair(uint32_t a, uint32_t b) {
    return one(static_cast<int32_t>(a)) << kBits | one(static_cast<int32_t>(b));
  }
};
template <class Narrow>
struct NarrowX2 {
  static uint32_t apply(uint32_t a, uint32_t b) { return Narrowed<Narrow>::pair(a, b); }
};
template <class Narrow>
struct NarrowX4 {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return c << 2 * Narrowed<Narrow>::kBits | Narrowed<Narrow>::pair(a, b);
  }
};

}  // namespace lab32::sim
