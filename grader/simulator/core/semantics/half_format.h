// The 16-bit floating-point types and their conversion from and to float, in every rounding mode.
#pragma once

#ifdef __F16C__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstdint>

#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {

struct F16 {
  uint16_t bits;
  using Layout = Format16;
  static constexpr uint16_t nan = 0x7fff;  // what NVIDIA hardware answers for any NaN
  static constexpr uint16_t one = 0x3c00;
  static constexpr uint16_t largest = 0x7bff;  // finite
};

struct BF16 {
  uint16_t bits;
  using Layout = FormatB16;
  static constexpr uint16_t nan = 0x7fff;
  static constexpr uint16_t one = 0x3f80;
  static constexpr uint16_t largest = 0x7f7f;
};

template <class H>
inline bool is_nan(H h) {
  return (h.bits & 0x7fff) > H::Layout::infinity;
}
template <class H>
inline bool is_subnormal(H h) {
  return (h.bits & 0x7fff) != 0 && (h.bits & H::Layout::infinity) == 0;
}
template <class H>
inline bool is_negative(H h) {
  return (h.bits & 0x8000) != 0;
}

inline float to_float(BF16 h) { return bit_copy<float>(uint32_t{h.bits} << 16); }

inline float to_float(F16 h) {
#ifdef __F16C__
  return _cvtsh_ss(h.bits);
#else
  const uint32_t sign = (h.bits & 0x8000u) << 16, magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00) return bit_copy<float>(sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
  // The exponent field moved into place is 112 too small; the product corrects it, subnormals
  // included.
  const float scaled = bit_copy<float>(magnitude << 13) * 0x1p112f;
  return bit_copy<float>(sign | bits(scaled));
#endif
}

// A double (exact, or rounded to odd) as H; NaN becomes the canonical one.
template <class H>
inline H to_half(double x, Rounding mode) {
  if (std::isnan(x)) return {H::nan};
  return {static_cast<uint16_t>(round_to_format<typename H::Layout>(x, mode))};
}

template <class H>
inline H to_half(float x, Rounding mode);

template <>
inline F16 to_half<F16>(float x, Rounding mode) {
  if (std::isnan(x)) return {F16::nan};
#ifdef __F16C__
  if (mode == Rounding::rn) return {_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)};
#endif
  return to_half<F16>(static_cast<double>(x), mode);
}

template <>
inline BF16 to_half<BF16>(float x, Rounding mode) {
  if (std::isnan(x)) return {BF16::nan};
  if (mode != Rounding::rn) return to_half<BF16>(static_cast<double>(x), mode);
  const uint32_t b = bits(x);  // the upper half of a float, ties to even
  return {static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}

}  // namespace lab32::sim
