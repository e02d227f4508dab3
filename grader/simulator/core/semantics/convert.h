// cvt (PTX ISA 9.0, 9.7.9.21) on one lane's value. Every pair of types goes through an exact
// number, a double or a 128-bit integer, and one rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/lanes.h"

namespace lab32::sim {

struct CvtModifiers {
  Rounding rounding = Rounding::rn;
  bool to_integral = false;  // .rni .rzi .rmi .rpi: to a whole number, in the mode `rounding`
  bool ftz = false, sat = false, relu = false, satfinite = false;
};

template <class T>
constexpr bool kIsInt = std::is_integral_v<T>;

template <class T>
struct FloatLayoutOf {
  using type = typename T::Layout;
};
template <>
struct FloatLayoutOf<float> {
  using type = Format32;
};
template <>
struct FloatLayoutOf<double> {
  using type = Format64;
};
template <>
struct FloatLayoutOf<TF32> {
  using type = FormatT32;
};

// --- values <-> types ----------------------------------------------------------------------------

inline double exact_value(float x) { return x; }
inline double exact_value(double x) { return x; }
inline double exact_value(F16 x) { return to_float(x); }
inline double exact_value(BF16 x) { return to_float(x); }

inline double round_to_integral(double x, Rounding mode) {
  switch (mode) {
    case Rounding::rz:
      return std::trunc(x);
    case Rounding::rm:
      return std::floor(x);
    case Rounding::rp:
      return std::ceil(x);
    default:
      return std::rint(x);
  }
}

// Converts the bits of a format to the type that holds them.
template <class T>
inline T value_of_bits(uint64_t b) {
  if constexpr (std::is_same_v<T, float>) {
    return bit_copy<float>(static_cast<uint32_t>(b));
  } else if constexpr (std::is_same_v<T, double>) {
    return bit_copy<double>(b);
  } else if constexpr (std::is_same_v<T, TF32>) {
    return {static_cast<uint32_t>(b << 13)};  // the upper 19 bits of a float
  } else {
    return {static_cast<uint16_t>(b)};
  }
}

template <class T>
inline T canonical_nan_of() {
  if constexpr (std::is_same_v<T, float>) {
    return canonical_nan();
  } else {
    return {T::nan};
  }
}

// --- the four kinds of conversion ----------------------------------------------------------------

// In this section integers are 128 bits wide, whatever their type. .sat clamps to the nearest end
// of the result's range.
inline int128 clamp_to(int128 x, ptx::DataType to) {
  const uint32_t bits = ptx::bits_of(to);
  const int128 high = (int128{1} << (is_signed(to) ? bits - 1 : bits)) - 1;
  const int128 low = is_signed(to) ? -high - 1 : 0;
  return x < low ? low : x > high ? high : x;
}

template <class D>
inline D int_to_float(int128 s, const CvtModifiers& form) {
  using Layout = typename FloatLayoutOf<D>::type;
  if (s == 0 || (form.sat && s < 0)) return value_of_bits<D>(0);
  if (form.sat) s = 1;  // clamped to [0, 1]
  const bool negative = s < 0;
  const auto magnitude = static_cast<uint64_t>(negative ? -s : s);
  return value_of_bits<D>(round_to_bits<Layout>(negative, 0, magnitude, form.rounding));
}

// A number out of range becomes the nearest end of the range. NaN becomes 0, but a number with only
// the top bit set if either side is 64 bits wide: .f64 sources, .s64 and .u64 results (9.7.9.21).
template <class S>
inline int128 float_to_int(S s, ptx::DataType to, const CvtModifiers& form) {
  const int bits = static_cast<int>(ptx::bits_of(to));
  double x = exact_value(s);
  if (std::isnan(x)) {
    const bool wide = std::is_same_v<S, double> || bits == 64;
    return wide ? int128{1} << (bits - 1) : 0;
  }
  if constexpr (std::is_same_v<S, float>) {
    if (form.ftz) x = flush_subnormal(s);
  }
  x = round_to_integral(x, form.rounding);
  // The first number above the range is a power of two, exact in double.
  const double above = std::ldexp(1.0, bits - (is_signed(to) ? 1 : 0));
  if (std::fabs(x) >= above || x < 0) {
    return clamp_to(x < 0 ? static_cast<int128>(std::fmax(x, -above)) : int128{1} << bits, to);
  }
  return static_cast<int128>(x);
}

template <class D>
inline D apply_cvt_modifiers(D d, const CvtModifiers& form) {
  using Layout = typename FloatLayoutOf<D>::type;
  constexpr int unused = std::is_same_v<D, TF32> ? 13 : 0;
  const uint64_t b = static_cast<uint64_t>(bit_copy<BitsOf<D>>(d)) >> unused;
  const bool nan = (b & (Layout::sign - 1)) > Layout::infinity;
  const bool negative = (b & Layout::sign) != 0;
  constexpr uint64_t one = static_cast<uint64_t>(Layout::bias) << Layout::fraction_bits;
  if (form.sat) {
    if (nan || negative) return value_of_bits<D>(0);
    return value_of_bits<D>(b < one ? b : one);
  }
  if (nan) return d;
  if (form.relu && negative) return value_of_bits<D>(0);
  if (form.satfinite && (b & ~Layout::sign) == Layout::infinity) {
    return value_of_bits<D>((b & Layout::sign) | (Layout::infinity - 1));
  }
  return d;
}

// The result for NaN, as on an H200. A single precision result, or a half that is converted from
// single precision, is the canonical NaN. If source or result is a double, the sign and the upper
// payload bits stay, and the NaN becomes quiet. cvt.f32.f32 and cvt.f32.bf16 without modifiers are
// moves. tf32 keeps the upper bits of the float result.
template <class D, class S>
inline D convert_nan(S s, const CvtModifiers& form) {
  if constexpr (std::is_same_v<D, TF32>) {
    if (form.rounding != Rounding::rna) return {0x7fffe000u};
    // The instruction sequence of ptxas lowers every value with the largest exponent by one unit.
    return {(bits(s) & 0xffffe000u) - (form.satfinite ? 0x2000u : 0u)};
  } else if constexpr (std::is_same_v<D, double>) {
    if constexpr (std::is_same_v<S, float>) {
      if (form.ftz) return canonical_nan();
    }
    return form.to_integral ? exact_value(s) + exact_value(s) : exact_value(s);
  } else if constexpr (std::is_same_v<S, double>) {
    using Layout = typename FloatLayoutOf<D>::type;
    const uint64_t b = bits(s);
    const uint64_t fraction = (b & 0xfffffffffffffull) >> (52 - Layout::fraction_bits);
    return value_of_bits<D>((b >> 63 != 0 ? Layout::sign : 0) | Layout::infinity |
                            uint64_t{1} << (Layout::fraction_bits - 1) | fraction);
  } else {
    return canonical_nan_of<D>();
  }
}

template <class D, class S>
inline D float_to_float(S s, const CvtModifiers& form) {
  using Layout = typename FloatLayoutOf<D>::type;
  double x = exact_value(s);
  if (std::isnan(x)) return apply_cvt_modifiers(convert_nan<D>(s, form), form);
  if constexpr (std::is_same_v<S, float> && !std::is_same_v<D, F16>) {
    // An operand is not flushed for f16 results, which would differ only in modes .rm and .rp.
    if (form.ftz) x = flush_subnormal(s);
  }
  Rounding mode = form.rounding;
  if (form.to_integral) {
    x = round_to_integral(x, mode);
    mode = Rounding::rn;
  }
  D d = value_of_bits<D>(round_to_format<Layout>(x, mode));
  if constexpr (std::is_same_v<D, float>) {
    // As in WithFtzSatAndCanonicalNan, a result is tiny if it is below the normal numbers after
    // rounding to 24 bits, whatever its exponent.
    const uint64_t scaled = round_to_format<Format32>(x * 0x1p64, mode);
    const bool tiny = std::fabs(value_of_bits<float>(scaled)) < 0x1p-62f;
    if (form.ftz && tiny) d = std::copysign(0.0f, d);
  }
  return apply_cvt_modifiers(d, form);
}

}  // namespace lab32::sim
