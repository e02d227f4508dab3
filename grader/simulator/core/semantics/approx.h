// The approximations of PTX ISA 9.0, 9.7.3 and 9.7.4, on one lane's values.
//
// The hardware's results are not documented to the bit; the ISA gives error bounds and special
// values. These functions compute in double and round once. Their results are within the bounds,
// closer than the hardware's, and have the hardware's special values. A program that depends on the
// last bits of an approximation may therefore give other results here than on a GPU, as it may
// between GPUs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/half.h"
#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {

inline float narrow(double x) { return static_cast<float>(x); }

// ptxas computes a quotient as a reciprocal and a product, each rounded, and scales both operands
// first if the reciprocal would be lost (machine code of sm_90; bits equal its own rcp.approx and
// mul on an H200 for 2 Mi random operands). div.approx does not scale beyond 2^126 and takes the
// reciprocal for zero: hence the ISA's "inf / b is NaN, all else 0 for |b| in (2^126, 2^128)".
inline float divide_by_reciprocal(float a, float b, float scale) {
  return a * scale * narrow(1.0 / (b * scale));
}
struct DivApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a, float b) {
    const float magnitude = std::fabs(b);
    if (magnitude > 0x1p126f && std::isfinite(b)) return a * std::copysign(0.0f, b);
    return divide_by_reciprocal(a, b, magnitude < 0x1p-126f ? 0x1p24f : 1);
  }
};
struct DivFull : FlushesOnlyRoundedSubnormals {
  static float apply(float a, float b) {
    const float magnitude = std::fabs(b);
    return divide_by_reciprocal(a, b,
                                magnitude < 0x1p-126f  ? 0x1p24f
                                : magnitude > 0x1p126f ? 0.25f
                                                       : 1);
  }
};
struct RcpApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(1.0 / a); }
};
struct SqrtApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::sqrt(static_cast<double>(a))); }
};
struct RsqrtApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(1.0 / std::sqrt(static_cast<double>(a))); }
};
// The hardware first converts the angle to full turns with a single precision product that rounds
// towards zero. This causes the large errors of large arguments.
inline double fraction_of_turn(float a) {
  constexpr float kTurn = 0.15915494f;  // 1 / (2 pi)
  return std::fmod(static_cast<double>(mul_in_rounding_mode<Rounding::rz>(a, kTurn)), 1.0);
}
constexpr double kTwoPi = 6.283185307179586;
struct SinApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::sin(kTwoPi * fraction_of_turn(a))); }
};
struct CosApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::cos(kTwoPi * fraction_of_turn(a))); }
};
struct Lg2Approx : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::log2(static_cast<double>(a))); }
};
struct Ex2Approx : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::exp2(static_cast<double>(a))); }
};
struct TanhApprox : FlushesOnlyRoundedSubnormals {
  static float apply(float a) { return narrow(std::tanh(static_cast<double>(a))); }
};

// rsqrt.approx.f64 without .ftz is a full-precision sequence, not an approximation.
struct RsqrtDouble {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};

// The .ftz.f64 forms read the upper word of the operand and write the upper word of the result; the
// lower word is zero. Subnormals are zero on both sides.
inline double upper_word(double x) { return bit_copy<double>(bits(x) & 0xffffffff00000000u); }
inline double flush_subnormal_double(double x) {
  return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0.0, x) : x;
}
template <class Raw>
struct DoubleUpperWordApprox {
  static double apply(double a) {
    const double r = Raw::exact(flush_subnormal_double(upper_word(a)));
    if (is_nan(r)) return bit_copy<double>(uint64_t{0x7fffffff00000000u});
    return upper_word(flush_subnormal_double(r));
  }
};
struct Rcp64 {
  static double exact(double a) { return 1.0 / a; }
};
struct Rsqrt64 {
  static double exact(double a) { return 1.0 / std::sqrt(a); }
};

struct HalfEx2 {
  static double exact(double a) { return std::exp2(a); }
};
struct HalfTanh {
  static double exact(double a) { return std::tanh(a); }
};

// ---------------------------------------------------------------------------------------------
// ex2.approx, lg2.approx and rsqrt.approx for a whole warp: the same bits as the functions above,
// at a fifth of the cost.
//
// The functions above compute in double and round to float. These use a polynomial that the
// compiler vectorises and that is accurate to a few units of double precision. This determines the
// nearest float except for one argument in some millions, whose double is next to the midpoint of
// two floats. For those, and outside the usual range, the functions above compute the result.

// 0x1.8p52: added to a small number, it leaves the nearest whole number in the lowest bits.
constexpr double kRoundToWhole = 0x1.8p52;

struct VectorisableEx2 {
  static double fast_approximation(float a) {
    const double x = a;
    const double shifted = x + kRoundToWhole;
    const double y = (x - (shifted - kRoundToWhole)) * 0x1.62e42fefa39efp-1;  // ln 2
    // Computes e^y for |y| < 0.35 by its Taylor series up to y^13. The next term, of y^14, would be
    // 2^-62 of the result.
    double p = 1.0 / 6227020800;
    p = p * y + 1.0 / 479001600;
    p = p * y + 1.0 / 39916800;
    p = p * y + 1.0 / 3628800;
    p = p * y + 1.0 / 362880;
    p = p * y + 1.0 / 40320;
    p = p * y + 1.0 / 5040;
    p = p * y + 1.0 / 720;
    p = p * y + 1.0 / 120;
    p = p * y + 1.0 / 24;
    p = p * y + 1.0 / 6;
    p = p * y + 0.5;
    p = p * y + 1;
    p = p * y + 1;
    return p * bit_copy<double>((bits(shifted) + 1023) << 52);
  }
  static bool usual(float a) { return (bits(a) & 0x7fffffffu) < 0x42fc0000u; }  // 126
};

struct VectorisableRsqrt {
  static double fast_approximation(float a) {
    // Newton's iteration, at first in single precision. The initial estimate is off by 3.5 % at
    // most.
    const float half = 0.5f * a;
    float y = bit_copy<float>(0x5f375a86u - (bits(a) >> 1));
    y = y * (1.5f - half * y * y);
    y = y * (1.5f - half * y * y);
    y = y * (1.5f - half * y * y);
    const double wide_half = 0.5 * a;
    double r = y;
    r = r * (1.5 - wide_half * r * r);
    return r * (1.5 - wide_half * r * r);
  }
  static bool usual(float a) { return bits(a) - 0x00800000u < 0x7f000000u; }  // normal, positive
};

struct VectorisableLg2 {
  static double fast_approximation(float a) {
    // Splits a into m * 2^e with m from sqrt(1/2) to sqrt(2).
    const uint64_t b = bits(static_cast<double>(a));
    constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu, kBias = 1024;
    const uint64_t e = (b - kRootHalf + (kBias << 52)) >> 52;
    const double m = bit_copy<double>(b - ((e - kBias) << 52));
    const double s = (m - 1) / (m + 1), z = s * s;
    // Computes log m as 2 artanh s, with |s| < 0.172, by a power series in z = s^2 up to z^10. The
    // next term would be 2^-60 of the result.
    double p = 1.0 / 21;
    p = p * z + 1.0 / 19;
    p = p * z + 1.0 / 17;
    p = p * z + 1.0 / 15;
    p = p * z + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    p = p * z + 1;
    const double whole = bit_copy<double>(0x4330000000000000u | e) - (0x1p52 + kBias);
    return whole + p * (s * 0x1.71547652b82fep+1);  // 2 / ln 2
  }
  static bool usual(float a) { return bits(a) - 1 < 0x7f7fffffu; }
};

// Whether `nearest` is certainly correct although `r` is off by a few units: `r` is far enough from
// the midpoint of two floats. Subnormal floats have other midpoints and never count as sure.
inline bool is_certainly_rounded(double r, float nearest) {
  constexpr uint32_t kHalf = 1u << 28, kUnits = 64, kBelowFloat = 0x1fffffff;
  const auto low = static_cast<uint32_t>(bits(r));
  const bool from_half = ((low - (kHalf - kUnits)) & kBelowFloat) > 2 * kUnits;
  const bool normal = (bits(nearest) & 0x7fffffffu) - 0x00800001u < 0x7effffffu;
  return from_half & normal;
}

}  // namespace lab32::sim
