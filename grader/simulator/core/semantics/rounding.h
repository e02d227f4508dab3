// Exact results in all four rounding modes. The functions do not change the processor's rounding
// mode: setting it costs more than the operation, and the compiler assumes that it is the default.
//
// There are two methods. A result of two or three floats is computed in double so that only one
// rounding, to odd, happens there; rounding that to float in any mode is right (Boldo & Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008: 53 bits >= 24 + 2). For double, the exact
// result is a 128-bit integer times a power of two whose last bit is sticky, and round_to_bits does
// the rest.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace lab32::sim {

enum class Rounding : uint8_t { rn, rz, rm, rp, rna };  // rna: to nearest, ties away from zero

using int128 = __int128;
using uint128 = unsigned __int128;

template <class To, class From>
inline To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

inline uint32_t bits(float x) { return bit_copy<uint32_t>(x); }
inline uint64_t bits(double x) { return bit_copy<uint64_t>(x); }

// --- rounding a number of any precision to a binary format ---------------------------------------

// An IEEE interchange format by its two field widths.
template <int ExponentBits, int FractionBits>
struct FloatFormat {
  static constexpr int fraction_bits = FractionBits;
  static constexpr int bias = (1 << (ExponentBits - 1)) - 1;
  static constexpr int min_exponent = 1 - bias;  // smallest exponent of normal numbers
  static constexpr int max_exponent = bias;
  static constexpr uint64_t infinity = ((uint64_t{1} << ExponentBits) - 1) << FractionBits;
  static constexpr uint64_t sign = uint64_t{1} << (ExponentBits + FractionBits);
};
using Format16 = FloatFormat<5, 10>;
using FormatB16 = FloatFormat<8, 7>;
using FormatT32 = FloatFormat<8, 10>;
using Format32 = FloatFormat<8, 23>;
using Format64 = FloatFormat<11, 52>;

inline int position_of_top_bit(uint128 m) {
  const auto high = static_cast<uint64_t>(m >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll(static_cast<uint64_t>(m));
}

// Shifts right. If a lost bit was set, the last bit of the result is set, too: it is "sticky".
inline uint128 shift_right_sticky(uint128 m, int by) {
  if (by <= 0) return m;
  if (by > 127) return m != 0 ? 1 : 0;
  return (m >> by) | ((m << (128 - by)) != 0 ? 1 : 0);
}

inline bool rounds_up(Rounding mode, bool negative, bool odd, int compare_with_half) {
  switch (mode) {
    case Rounding::rn:
      return compare_with_half > 0 || (compare_with_half == 0 && odd);
    case Rounding::rna:
      return compare_with_half >= 0;
    case Rounding::rz:
      return false;
    case Rounding::rm:
      return negative;
    case Rounding::rp:
      return !negative;
  }
  return false;
}

// Rounds (negative ? -1 : 1) * m * 2^exponent, with m > 0, to format F and returns its bits. The
// last bit of m may be sticky if m has at least two bits more than the format.
template <class F>
inline uint64_t round_to_bits(bool negative, int exponent, uint128 m, Rounding mode) {
  const uint64_t sign = negative ? F::sign : 0;
  const int top = position_of_top_bit(m) + exponent;  // |value| in [2^top, 2^(top+1))
  const int unit = (top < F::min_exponent ? F::min_exponent : top) - F::fraction_bits;
  int drop = unit - exponent;  // bits of m below the format's last one
  if (drop <= 0) {
    m <<= -drop;  // exact: m has fewer bits than the format
    drop = 0;
  }
  uint64_t fraction = 0;
  if (drop > 0) {
    // A number far below the format's range is less than half of the format's smallest unit. It is
    // replaced by 1, so that the shift stays within the width of m.
    const int shift = drop > 126 ? 126 : drop;
    if (drop > 126) m = 1;
    fraction = static_cast<uint64_t>(m >> shift);
    const uint128 rest = m - (static_cast<uint128>(fraction) << shift);
    const uint128 half = static_cast<uint128>(1) << (shift - 1);
    const int compare = rest < half ? -1 : rest == half ? 0 : 1;
    if (rest != 0 && rounds_up(mode, negative, (fraction & 1) != 0, compare)) ++fraction;
  } else {
    fraction = static_cast<uint64_t>(m);
  }
  // A subnormal that rounds up to the smallest normal number, and a fraction that carries into the
  // exponent, are correct because exponent and fraction are adjacent fields.
  const int biased = unit + F::fraction_bits - F::min_exponent;  // 0 for subnormal and the lowest
  uint64_t packed = (static_cast<uint64_t>(biased) << F::fraction_bits) + fraction;
  if (biased > 2 * F::bias || packed >= F::infinity) {
    const bool to_infinity = mode == Rounding::rn || mode == Rounding::rna ||
                             (mode == Rounding::rm && negative) ||
                             (mode == Rounding::rp && !negative);
    packed = to_infinity ? F::infinity : F::infinity - 1;
  }
  return sign | packed;
}

// --- double -> narrower formats ------------------------------------------------------------------

struct UnpackedDouble {
  bool negative;
  int exponent;
  uint64_t m;  // value = m * 2^exponent
};

inline UnpackedDouble unpack(double x) {
  const uint64_t b = bits(x);
  const int field = static_cast<int>((b >> 52) & 0x7ff);
  const uint64_t fraction = b & 0xfffffffffffffull;
  return {(b >> 63) != 0, (field == 0 ? 1 : field) - 1075,
          field == 0 ? fraction : fraction | (uint64_t{1} << 52)};
}

// Rounds a double, which must not be NaN, to format F and returns its bits.
template <class F>
inline uint64_t round_to_format(double x, Rounding mode) {
  const UnpackedDouble u = unpack(x);
  if (u.m == 0) return u.negative ? F::sign : 0;
  if (std::isinf(x)) return (u.negative ? F::sign : 0) | F::infinity;
  return round_to_bits<F>(u.negative, u.exponent, u.m, mode);
}

inline float next_toward_zero(float x) { return bit_copy<float>(bits(x) - 1); }
inline float next_from_zero(float x) { return bit_copy<float>(bits(x) + 1); }

// Rounds a double, which must not be NaN, to a float. The nearest float, from which the function
// starts, is off by at most one place.
template <Rounding R>
inline float to_float_with_rounding(double x) {
  const float f = static_cast<float>(x);
  const auto wide = static_cast<double>(f);
  if constexpr (R == Rounding::rz) {
    return std::fabs(wide) > std::fabs(x) ? next_toward_zero(f) : f;
  } else if constexpr (R == Rounding::rm) {
    if (!(wide > x)) return f;
    if (f == 0) return -std::numeric_limits<float>::denorm_min();
    return f > 0 ? next_toward_zero(f) : next_from_zero(f);
  } else if constexpr (R == Rounding::rp) {
    if (!(wide < x)) return f;
    if (f == 0) return std::numeric_limits<float>::denorm_min();
    return f < 0 ? next_toward_zero(f) : next_from_zero(f);
  } else {
    return f;
  }
}

// --- float arithmetic, exact but for one rounding to odd in double -------------------------------

// Returns the result of rounding to odd. x is the result rounded to nearest, and `error` has the
// sign of (exact - x): if x is inexact and even, its odd neighbour towards the exact value is
// returned.
inline double round_to_odd(double x, double error) {
  const uint64_t b = bits(x);
  if (error == 0 || (b & 1) != 0 || !std::isfinite(x)) return x;
  return bit_copy<double>((error > 0) == (x > 0) ? b + 1 : b - 1);
}

// The sum rounded to odd. The error term is exact for floats and for products of two floats
// (Knuth's TwoSum).
inline double add_rounding_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  return round_to_odd(sum, error);
}

// Gives an exact zero sum its sign: negative only if both operands are negative, or if the result
// is rounded downwards.
template <Rounding R>
inline double with_zero_sign(double sum, double a, double b) {
  if (R == Rounding::rm && sum == 0 && std::signbit(a) != std::signbit(b)) return -0.0;
  return sum;
}

template <Rounding R>
inline float add_in_rounding_mode(float a, float b) {
  if constexpr (R == Rounding::rn) return a + b;
  return to_float_with_rounding<R>(with_zero_sign<R>(add_rounding_to_odd(a, b), a, b));
}

template <Rounding R>
inline float mul_in_rounding_mode(float a, float b) {
  if constexpr (R == Rounding::rn) return a * b;
  return to_float_with_rounding<R>(static_cast<double>(a) * b);  // 48 bits: exact
}

template <Rounding R>
inline float fma_in_rounding_mode(float a, float b, float c) {
  if constexpr (R == Rounding::rn) return std::fma(a, b, c);
  const double product = static_cast<double>(a) * b;
  return to_float_with_rounding<R>(with_zero_sign<R>(add_rounding_to_odd(product, c), product, c));
}

template <Rounding R>
inline float div_in_rounding_mode(float a, float b) {
  if constexpr (R == Rounding::rn) return a / b;
  const double q = static_cast<double>(a) / b;
  if (b == 0 || !std::isfinite(q) || std::isinf(b)) return to_float_with_rounding<R>(q);
  const double error = std::fma(-q, static_cast<double>(b), static_cast<double>(a));
  return to_float_with_rounding<R>(round_to_odd(q, b > 0 ? error : -error));
}

template <Rounding R>
inline float sqrt_in_rounding_mode(float x) {
  if constexpr (R == Rounding::rn) return std::sqrt(x);
  if (!(x > 0) || std::isinf(x)) return std::sqrt(x);
  const double root = std::sqrt(static_cast<double>(x));
  return to_float_with_rounding<R>(
      round_to_odd(root, std::fma(-root, root, static_cast<double>(x))));
}

// --- double arithmetic ---------------------------------------------------------------------------

// Computes a * b + c in a directed rounding mode, for finite numbers with a * b != 0.
inline double fma_directed(double a, double b, double c, Rounding mode) {
  const UnpackedDouble ua = unpack(a), ub = unpack(b), uc = unpack(c);
  // Both terms are shifted until their top bit is bit 124. The product then has at least 18 zeros
  // below its 106 bits. Terms cancel only if their exponents differ by one at most, so no bit is
  // lost to the sticky bit in that case.
  uint128 p = static_cast<uint128>(ua.m) * ub.m;
  const bool p_negative = ua.negative != ub.negative;
  const int p_shift = 124 - position_of_top_bit(p);
  p <<= p_shift;
  const int p_exponent = ua.exponent + ub.exponent - p_shift;
  if (uc.m == 0) return bit_copy<double>(round_to_bits<Format64>(p_negative, p_exponent, p, mode));
  const int c_shift = 124 - position_of_top_bit(uc.m);
  uint128 m = static_cast<uint128>(uc.m) << c_shift;
  const int c_exponent = uc.exponent - c_shift;

  const int exponent = p_exponent > c_exponent ? p_exponent : c_exponent;
  p = shift_right_sticky(p, exponent - p_exponent);
  m = shift_right_sticky(m, exponent - c_exponent);
  bool negative = p_negative;
  uint128 sum;
  if (p_negative == uc.negative) {
    sum = p + m;
  } else if (p >= m) {
    sum = p - m;
  } else {
    sum = m - p;
    negative = uc.negative;
  }
  if (sum == 0) return mode == Rounding::rm ? -0.0 : 0.0;
  return bit_copy<double>(round_to_bits<Format64>(negative, exponent, sum, mode));
}

template <Rounding R>
inline double fma_in_rounding_mode(double a, double b, double c) {
  if constexpr (R == Rounding::rn) return std::fma(a, b, c);
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return std::fma(a, b, c);
  if (a == 0 || b == 0) {
    const double product = a * b;
    return c == 0 ? with_zero_sign<R>(product + c, product, c) : c;
  }
  return fma_directed(a, b, c, R);
}

template <Rounding R>
inline double add_in_rounding_mode(double a, double b) {
  if constexpr (R == Rounding::rn) return a + b;
  return fma_in_rounding_mode<R>(a, 1.0, b);
}

template <Rounding R>
inline double mul_in_rounding_mode(double a, double b) {
  if constexpr (R == Rounding::rn) return a * b;
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a * b;
  return fma_directed(a, b, 0.0, R);
}

template <Rounding R>
inline double div_in_rounding_mode(double a, double b) {
  if constexpr (R == Rounding::rn) return a / b;
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a / b;
  const UnpackedDouble ua = unpack(a), ub = unpack(b);
  const int shift = 126 - position_of_top_bit(ua.m);
  const uint128 n = static_cast<uint128>(ua.m) << shift;
  const uint128 q = n / ub.m;  // at least 74 bits
  const uint128 sticky = n % ub.m != 0 ? 1 : 0;
  return bit_copy<double>(round_to_bits<Format64>(
      ua.negative != ub.negative, ua.exponent - shift - ub.exponent, q | sticky, R));
}

template <Rounding R>
inline double sqrt_in_rounding_mode(double x) {
  if constexpr (R == Rounding::rn) return std::sqrt(x);
  if (!(x > 0) || std::isinf(x)) return std::sqrt(x);
  const UnpackedDouble u = unpack(x);
  int shift = 126 - position_of_top_bit(u.m);
  // Makes the exponent even, so that it can be halved.
  if (((u.exponent - shift) & 1) != 0) --shift;
  uint128 rest = static_cast<uint128>(u.m) << shift;
  uint128 root = 0;  // The root is computed bit by bit and has 63 or 64 bits.
  for (uint128 bit = static_cast<uint128>(1) << 126; bit != 0; bit >>= 2) {
    if (rest >= root + bit) {
      rest -= root + bit;
      root = (root >> 1) + bit;
    } else {
      root >>= 1;
    }
  }
  return bit_copy<double>(
      round_to_bits<Format64>(false, (u.exponent - shift) / 2, root | (rest != 0 ? 1 : 0), R));
}

// ---------------------------------------------------------------------------------------------
// The modifiers that change what a row computes, as its function for one lane takes them.

struct FloatModifiers {
  bool ftz = false;      // subnormal operands and results are zero
  bool sat = false;      // the result is clamped to [0, 1]
  bool relu = false;     // a negative result is zero
  bool nan = false;      // .NaN: min and max of a NaN are NaN
  bool xorsign = false;  // the result has the sign of the operands' product
};

}  // namespace lab32::sim
