// The approximations of PTX ISA 9.0, 9.7.3 and 9.7.4, on one lane's values.
//
// What the hardware computes is not documented to the bit; the ISA states error bounds and special
// values. These functions compute in double and round once: always within the bounds, closer than
// the hardware itself, and with its special values. A program whose result hangs on the last bits
// of an approximation may differ from a GPU here, and between GPUs.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "simulator/core/semantics/float.h"
#include "simulator/core/semantics/half.h"

namespace lab32::sim {

inline float narrow(double x) { return static_cast<float>(x); }

// ptxas makes of a quotient a reciprocal and a product, each rounded; where the reciprocal would be
// lost, both are scaled before (machine code of sm_90; the same bits as its own rcp.approx and mul
// on an H200, 2 Mi of random operands). Beyond 2^126 div.approx has no such scale, the reciprocal
// is taken for zero: so the ISA's "inf / b is NaN, all else 0 for |b| in (2^126, 2^128)".
inline float by_reciprocal(float a, float b, float scale) {
  return a * scale * narrow(1.0 / (b * scale));
}
struct DivApprox : ExactWhenTiny {
  static float apply(float a, float b) {
    const float magnitude = std::fabs(b);
    if (magnitude > 0x1p126f && std::isfinite(b)) return a * std::copysign(0.0f, b);
    return by_reciprocal(a, b, magnitude < 0x1p-126f ? 0x1p24f : 1);
  }
};
struct DivFull : ExactWhenTiny {
  static float apply(float a, float b) {
    const float magnitude = std::fabs(b);
    return by_reciprocal(a, b, magnitude < 0x1p-126f ? 0x1p24f : magnitude > 0x1p126f ? 0.25f : 1);
  }
};
struct RcpApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(1.0 / a); }
};
struct SqrtApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(std::sqrt(static_cast<double>(a))); }
};
struct RsqrtApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(1.0 / std::sqrt(static_cast<double>(a))); }
};
// The hardware takes its argument in turns: a single precision product, rounded towards zero, which
// is where the large errors of large arguments come from.
inline double in_slices(float a) {
  constexpr float kTurn = 0.15915494f;  // 1 / (2 pi)
  return std::fmod(static_cast<double>(mul_rounded<Rounding::rz>(a, kTurn)), 1.0);
}
constexpr double kTwoPi = 6.283185307179586;
struct SinApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(std::sin(kTwoPi * in_slices(a))); }
};
struct CosApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(std::cos(kTwoPi * in_slices(a))); }
};
struct Lg2Approx : ExactWhenTiny {
  static float apply(float a) { return narrow(std::log2(static_cast<double>(a))); }
};
struct Ex2Approx : ExactWhenTiny {
  static float apply(float a) { return narrow(std::exp2(static_cast<double>(a))); }
};
struct TanhApprox : ExactWhenTiny {
  static float apply(float a) { return narrow(std::tanh(static_cast<double>(a))); }
};

// rsqrt.approx.f64 without .ftz is a full-precision sequence, not an approximation.
struct RsqrtWide {
  static double apply(double a) { return 1.0 / std::sqrt(a); }
};

// The .ftz.f64 forms read the upper word of their operand and write that of the result; the lower
// word is zero. Subnormals are zero on both sides.
inline double upper_word(double x) { return bit_copy<double>(bits(x) & 0xffffffff00000000u); }
inline double flush_wide(double x) {
  return std::fabs(x) < std::numeric_limits<double>::min() ? std::copysign(0.0, x) : x;
}
template <class Raw>
struct UpperWordOp {
  static double apply(double a) {
    const double r = Raw::exact(flush_wide(upper_word(a)));
    if (is_nan(r)) return bit_copy<double>(uint64_t{0x7fffffff00000000u});
    return upper_word(flush_wide(r));
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

}  // namespace lab32::sim
