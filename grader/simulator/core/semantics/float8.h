// Floats of 8 bits (PTX ISA 9.0, 5.2.3): E4M3, which has no infinity and one NaN of each sign, and
// E5M2, which is the upper half of a half. Each value of both is a half.
#pragma once

#include <cmath>
#include <cstdint>

#include "simulator/core/semantics/half_format.h"
#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {

struct E4M3 {
  struct Layout : Format<4, 3> {
    // Of what rounds to this or more; it is the NaN, so that 448, below it, is the largest number.
    static constexpr uint64_t infinity = 0x7f;
  };
};
struct E5M2 {
  using Layout = Format<5, 2>;
};

constexpr uint8_t kFloat8Nan = 0x7f;  // what is made of any NaN

// To nearest, and no further than the largest number: .rn.satfinite. relu: nothing negative.
template <class E>
inline uint8_t to_float8(double x, bool relu) {
  if (std::isnan(x)) return kFloat8Nan;
  if (relu && std::signbit(x)) return 0;
  const auto rounded = static_cast<uint8_t>(round_to_format<typename E::Layout>(x, Rounding::rn));
  const bool too_large = (rounded & 0x7f) == E::Layout::infinity;
  return static_cast<uint8_t>(too_large ? rounded - 1 : rounded);
}

template <class E>
inline F16 half_of(uint8_t bits);

template <>
inline F16 half_of<E4M3>(uint8_t bits) {
  const int magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return {F16::nan};
  // As the upper bits of a half it is 2^8 times too small: the exponents' biases are 7 and 15.
  const float value = to_float(F16{static_cast<uint16_t>(magnitude << 7)}) * 0x1p8f;
  const F16 half = to_half<F16>(value, Rounding::rn);
  return {static_cast<uint16_t>(half.bits | (bits & 0x80) << 8)};
}

template <>
inline F16 half_of<E5M2>(uint8_t bits) {
  const F16 half = {static_cast<uint16_t>(bits << 8)};
  return is_nan(half) ? F16{F16::nan} : half;
}

}  // namespace lab32::sim
