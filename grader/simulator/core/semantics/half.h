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
  static constexpr uint16_t nan = 0x7fff;  // the result of NVIDIA hardware for any NaN
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
  // After the shift, the exponent is 112 too small. The product corrects this, for subnormal
  // numbers, too.
  const float scaled = bit_copy<float>(magnitude << 13) * 0x1p112f;
  return bit_copy<float>(sign | bits(scaled));
#endif
}

// Rounds a double, which is exact or rounded to odd, to type H. NaN becomes the canonical NaN.
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
  const uint32_t b = bits(x);  // rounds to the upper half of the float's bits, ties to even
  return {static_cast<uint16_t>((b + 0x7fff + (b >> 16 & 1)) >> 16)};
}

// ---------------------------------------------------------------------------------------------
// Floats of 8 bits (PTX ISA 9.0, 5.2.3): E4M3, which has no infinity and one NaN of each sign, and
// E5M2, which is the upper half of a half. Each value of both is a half.

struct E4M3 {
  struct Layout : FloatFormat<4, 3> {
    // Results that round to this value or more become this value. It encodes NaN, so the largest
    // number is 448, directly below it.
    static constexpr uint64_t infinity = 0x7f;
  };
};
struct E5M2 {
  using Layout = FloatFormat<5, 2>;
};

constexpr uint8_t kFloat8Nan = 0x7f;  // the result for any NaN

// .rn.satfinite: rounds to nearest and clamps to the largest number. relu: negative results become
// 0.
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
  // As the upper bits of a half, the number is 2^8 times too small, because the exponents' biases
  // are 7 (E4M3) and 15 (half).
  const float value = to_float(F16{static_cast<uint16_t>(magnitude << 7)}) * 0x1p8f;
  const F16 half = to_half<F16>(value, Rounding::rn);
  return {static_cast<uint16_t>(half.bits | (bits & 0x80) << 8)};
}

template <>
inline F16 half_of<E5M2>(uint8_t bits) {
  const F16 half = {static_cast<uint16_t>(bits << 8)};
  return is_nan(half) ? F16{F16::nan} : half;
}

// ---------------------------------------------------------------------------------------------
// Half precision arithmetic (PTX ISA 9.0, 9.7.4) on one lane's values. The exact result is a double
// rounded to odd (rounding.h), so that the one rounding to 11 or 8 bits is right. NaN is 0x7fff.

template <class H>
inline H flush_subnormal_half(bool ftz, H h) {
  if (ftz && is_subnormal(h)) return {static_cast<uint16_t>(h.bits & 0x8000)};
  return h;
}

struct HalfAdd {
  static double exact(double a, double b) { return add_rounding_to_odd(a, b); }
};
struct HalfSub {
  static double exact(double a, double b) { return add_rounding_to_odd(a, -b); }
};
struct HalfMul {
  static double exact(double a, double b) { return a * b; }  // 22 bits
};
struct HalfFma {
  static double exact(double a, double b, double c) { return add_rounding_to_odd(a * b, c); }
};

// Executes an operation on halves: flushes the operands, rounds once, and clamps the result to [0,
// 1] (NaN becomes +0) or makes it non-negative (.relu, where NaN stays). As for floats
// (WithFtzSatAndCanonicalNan), a result that is below the normal numbers after rounding to full
// precision is flushed.
template <class Op>
struct HalfOp {
  template <class... H>
  static auto apply(FloatModifiers m, H... s) {
    const double exact =
        Op::exact(static_cast<double>(to_float(flush_subnormal_half(m.ftz, s)))...);
    return round_and_saturate<std::common_type_t<H...>>(m, exact);
  }

 private:
  template <class H>
  static H round_and_saturate(FloatModifiers m, double exact) {
    constexpr double scale = 0x1p10;
    const double smallest = std::ldexp(scale, H::Layout::min_exponent);
    if (m.ftz && std::fabs(to_float(to_half<H>(exact * scale, Rounding::rn))) < smallest) {
      exact = std::copysign(0.0, exact);
    }
    const H r = to_half<H>(exact, Rounding::rn);
    if (m.sat) {
      if (is_nan(r) || is_negative(r)) return {0};
      return r.bits > H::one ? H{H::one} : r;
    }
    if (m.relu && !is_nan(r) && is_negative(r)) return {0};
    return r;
  }
};

struct NegHalf {
  template <class H>
  static H apply(FloatModifiers m, H a) {
    a = flush_subnormal_half(m.ftz, a);
    return {is_nan(a) ? H::nan : static_cast<uint16_t>(a.bits ^ 0x8000)};
  }
};
struct AbsHalf {
  template <class H>
  static H apply(FloatModifiers m, H a) {
    a = flush_subnormal_half(m.ftz, a);
    return {is_nan(a) ? H::nan : static_cast<uint16_t>(a.bits & 0x7fff)};
  }
};

template <bool Max>
struct MinMaxHalf {
  template <class H>
  static H apply(FloatModifiers m, H a, H b) {
    a = flush_subnormal_half(m.ftz, a);
    b = flush_subnormal_half(m.ftz, b);
    const uint16_t sign = (a.bits ^ b.bits) & 0x8000;
    if (is_nan(a) || is_nan(b)) {
      if (m.nan || (is_nan(a) && is_nan(b))) return {H::nan};
      return with_sign(m, is_nan(a) ? b : a, sign);
    }
    if (m.xorsign) {
      a.bits &= 0x7fff;
      b.bits &= 0x7fff;
    }
    const float x = to_float(a), y = to_float(b);
    const bool a_first = x < y || (x == y && is_negative(a));
    return with_sign(m, a_first != Max ? a : b, sign);
  }

 private:
  template <class H>
  static H with_sign(FloatModifiers m, H r, uint16_t sign) {
    if (m.xorsign) r.bits = static_cast<uint16_t>((r.bits & 0x7fff) | sign);
    return r;
  }
};

}  // namespace lab32::sim
