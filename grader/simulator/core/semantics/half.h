// Half precision arithmetic (PTX ISA 9.0, 9.7.4) on one lane's values. The exact result is a double
// rounded to odd (rounding.h), so that the one rounding to 11 or 8 bits is right. NaN is 0x7fff.
#pragma once

#include <cmath>

#include "simulator/core/semantics/half_format.h"
#include "simulator/core/semantics/modifiers.h"

namespace lab32::sim {

template <class H>
inline H flush_half(bool ftz, H h) {
  if (ftz && is_subnormal(h)) return {static_cast<uint16_t>(h.bits & 0x8000)};
  return h;
}

struct HalfAdd {
  static double exact(double a, double b) { return add_odd(a, b); }
};
struct HalfSub {
  static double exact(double a, double b) { return add_odd(a, -b); }
};
struct HalfMul {
  static double exact(double a, double b) { return a * b; }  // 22 bits
};
struct HalfFma {
  static double exact(double a, double b, double c) { return add_odd(a * b, c); }
};

// Operands flushed, one rounding, result clamped to [0, 1] (NaN: +0) or made non-negative (.relu,
// NaN stays). As for floats (FloatOp), what is below the normal numbers when rounded to full
// precision is flushed.
template <class Op>
struct HalfOp {
  template <class... H>
  static auto apply(Modifiers m, H... s) {
    const double exact = Op::exact(static_cast<double>(to_float(flush_half(m.ftz, s)))...);
    return finish<std::common_type_t<H...>>(m, exact);
  }

 private:
  template <class H>
  static H finish(Modifiers m, double exact) {
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
  static H apply(Modifiers m, H a) {
    a = flush_half(m.ftz, a);
    return {is_nan(a) ? H::nan : static_cast<uint16_t>(a.bits ^ 0x8000)};
  }
};
struct AbsHalf {
  template <class H>
  static H apply(Modifiers m, H a) {
    a = flush_half(m.ftz, a);
    return {is_nan(a) ? H::nan : static_cast<uint16_t>(a.bits & 0x7fff)};
  }
};

template <bool Max>
struct MinMaxHalf {
  template <class H>
  static H apply(Modifiers m, H a, H b) {
    a = flush_half(m.ftz, a);
    b = flush_half(m.ftz, b);
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
  static H with_sign(Modifiers m, H r, uint16_t sign) {
    if (m.xorsign) r.bits = static_cast<uint16_t>((r.bits & 0x7fff) | sign);
    return r;
  }
};

}  // namespace lab32::sim
