// Single and double precision arithmetic (PTX ISA 9.0, 9.7.3) on one lane's values, in table order;
// the approximations are in approx.h.
//
// The ISA leaves open which NaN a result is; here it is an H200's. A float result is 0x7fffffff. A
// double result is one of the operands that are NaN, made quiet (nan_of_last_operand); one that the
// operation itself makes is 0xfff8000000000000, which is x86's as well.
// data/measured/h200-instructions.csv holds these and all other hardware results that the tests
// compare with.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {

// Works on the bits, so that the compiler vectorises it and a signalling NaN stays unchanged.
inline float flush_subnormal(float x) {
  const uint32_t b = bits(x);
  return bit_copy<float>((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}
inline float flush_if(bool ftz, float x) { return ftz ? flush_subnormal(x) : x; }

inline bool is_nan(float x) { return (bits(x) & 0x7fffffffu) > 0x7f800000u; }
inline bool is_nan(double x) { return (bits(x) & 0x7fffffffffffffffu) > 0x7ff0000000000000u; }

inline float canonical_nan() { return bit_copy<float>(0x7fffffffu); }
inline float canonical_nan(float x) { return is_nan(x) ? canonical_nan() : x; }
inline double canonical_nan(double x) { return x; }

// Clamps to [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate_unit(T x) {
  return !(x > T{0}) ? T{0} : x > T{1} ? T{1} : x;
}

// For operations whose results below the normal numbers are exact, so that flush_subnormal() alone
// decides.
struct FlushesOnlyRoundedSubnormals {
  template <class... T>
  static bool is_tiny_result(T...) {
    return false;
  }
};
// Whether a result (exact, or rounded to odd) is below the normal numbers after rounding to 24
// bits.
template <Rounding R>
inline bool is_below_normal(double exact) {
  return std::fabs(to_float_with_rounding<R>(exact * 0x1p64)) < 0x1p-62f;
}

// Every arithmetic row runs in this frame: it flushes the operands, rounds once, makes NaN
// canonical, and flushes and saturates the result. The hardware (H200) flushes a result that is
// below the normal numbers after rounding to 24 bits without regard to the exponent's range: (1 -
// 2^-24) * 2^-126 becomes zero, though as a subnormal it would have been rounded up to 2^-126.
template <class Raw>
struct WithFtzSatAndCanonicalNan {
  template <class... T>
  static float apply(FloatModifiers m, float a, T... s) {
    float r = canonical_nan(Raw::apply(flush_if(m.ftz, a), flush_if(m.ftz, s)...));
    if (m.ftz)
      r = Raw::is_tiny_result(flush_subnormal(a), flush_subnormal(s)...) ? std::copysign(0.0f, r)
                                                                         : flush_subnormal(r);
    return m.sat ? saturate_unit(r) : r;
  }
  // Double precision has neither .ftz nor .sat.
  template <class... T>
  static double apply(FloatModifiers, double a, T... s) {
    return canonical_nan(Raw::apply(a, s...));
  }
};

// The NaN of a double precision result: the last NaN operand, made quiet (H200). In single
// precision all NaN results are equal. This tests r first and works on the bits, so that the
// compiler vectorises it: if r were not needed in one case, the compiler would put its computation,
// which could trap, behind a branch.
inline float nan_of_last_operand(float r, float, float) { return r; }
inline double nan_of_last_operand(double r, double a, double b) {
  constexpr uint64_t quiet = uint64_t{1} << 51;
  const uint64_t of_a = is_nan(a) ? bits(a) | quiet : bits(r);
  const uint64_t of_b = is_nan(b) ? bits(b) | quiet : of_a;
  return bit_copy<double>(is_nan(r) ? of_b : bits(r));
}

// The NaN that an operation itself generates. An x86 processor generates the one that an H200 does;
// an Arm processor generates a positive one, which this function replaces.
inline float canonical_generated_nan(float r) { return r; }
inline double canonical_generated_nan(double r) {
#ifdef __aarch64__
  if (is_nan(r)) return bit_copy<double>(uint64_t{0xfff8000000000000u});
#endif
  return r;
}

enum class FloatClass { finite, infinite, number, notanumber, normal, subnormal };

// Zero counts as normal (9.7.3.1).
template <FloatClass Class>
struct Testp {
  template <class T>
  static bool apply(T x) {
    const T magnitude = std::fabs(x);
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T smallest = std::numeric_limits<T>::min();
    switch (Class) {
      case FloatClass::finite:
        return magnitude < infinity;
      case FloatClass::infinite:
        return magnitude == infinity;
      case FloatClass::number:
        return !is_nan(x);
      case FloatClass::notanumber:
        return is_nan(x);
      case FloatClass::normal:
        return magnitude == 0 || (magnitude >= smallest && magnitude < infinity);
      case FloatClass::subnormal:
        return magnitude != 0 && magnitude < smallest;
    }
    return false;
  }
};

// The result has the sign of a and the magnitude of b.
struct Copysign {
  template <class T>
  static T apply(T a, T b) {
    const auto sign = bits(T{-0.0});
    return bit_copy<T>((bits(b) & ~sign) | (bits(a) & sign));
  }
};

template <Rounding R>
struct AddFloat : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a, T b) {
    return nan_of_last_operand(canonical_generated_nan(add_in_rounding_mode<R>(a, b)), a, b);
  }
};
template <Rounding R>
struct SubFloat : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a, T b) {
    return nan_of_last_operand(canonical_generated_nan(add_in_rounding_mode<R>(a, -b)), a, b);
  }
};
template <Rounding R>
struct MulFloat {
  template <class T>
  static T apply(T a, T b) {
    return nan_of_last_operand(canonical_generated_nan(mul_in_rounding_mode<R>(a, b)), a, b);
  }
  static bool is_tiny_result(float a, float b) {
    return is_below_normal<R>(static_cast<double>(a) * b);
  }
};
template <Rounding R>
struct FmaFloat {
  template <class T>
  static T apply(T a, T b, T c) {
    const T r = canonical_generated_nan(fma_in_rounding_mode<R>(a, b, c));
    return nan_of_last_operand(nan_of_last_operand(r, a, c), b, b);  // b before c before a
  }
  static bool is_tiny_result(float a, float b, float c) {
    return is_below_normal<R>(add_rounding_to_odd(static_cast<double>(a) * b, c));
  }
};
template <Rounding R>
struct DivFloat {
  template <class T>
  static T apply(T a, T b) {
    return nan_of_last_operand(canonical_generated_nan(div_in_rounding_mode<R>(a, b)), b, a);
  }
  // No quotient of floats is close enough to a tie for a first rounding to double to matter.
  static bool is_tiny_result(float a, float b) {
    return is_below_normal<R>(static_cast<double>(a) / b);
  }
};
template <Rounding R>
struct RcpRounded : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a) {
    return div_in_rounding_mode<R>(T{1}, a);
  }
};
template <Rounding R>
struct SqrtRounded : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a) {
    const T r = sqrt_in_rounding_mode<R>(a);
    return is_nan(a) ? r : canonical_generated_nan(r);
  }
};

// A NaN keeps its sign: for double the hardware adds a zero, and the NaN of float is canonical.
struct AbsFloat : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a) {
    return nan_of_last_operand(std::fabs(a), a, a);
  }
};
struct NegFloat : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a) {
    return nan_of_last_operand(-a, a, a);
  }
};

// Maps floats to integers in the same order, with -0 below +0. For this the magnitude of a negative
// number is inverted.
inline int32_t order_key(float x) {
  const auto b = static_cast<int32_t>(bits(x));
  return b ^ ((b >> 31) & 0x7fffffff);
}
inline int64_t order_key(double x) {
  const auto b = static_cast<int64_t>(bits(x));
  return b ^ ((b >> 63) & 0x7fffffffffffffff);
}

// min and max: a number wins over NaN, unless .NaN is given; -0 is below +0.
template <bool Max, class T>
inline T min_or_max_of_numbers(T a, T b) {
  return (order_key(a) < order_key(b)) != Max ? a : b;
}
template <bool Max, bool Nan>
struct MinMaxFloat : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a, T b) {
    const T extreme = min_or_max_of_numbers<Max>(a, b);
    if (Nan) return is_nan(a) ? a : is_nan(b) ? b : extreme;
    const T other = is_nan(b) ? a : extreme;
    if (sizeof(T) == 4) return is_nan(a) ? b : other;
    return is_nan(a) ? nan_of_last_operand(b, b, b) : other;
  }
  template <class T>
  static T apply(T a, T b, T c) {
    return apply(apply(a, b), c);
  }
};
// With .abs the operation uses the magnitudes of its operands. With .xorsign.abs the result also
// gets the sign of the operands' product.
template <class Raw>
struct OnMagnitudes : FlushesOnlyRoundedSubnormals {
  template <class... T>
  static auto apply(T... s) {
    return Raw::apply(std::fabs(s)...);
  }
};
template <class Raw>
struct WithXorSign : FlushesOnlyRoundedSubnormals {
  template <class T>
  static T apply(T a, T b) {
    const T r = Raw::apply(std::fabs(a), std::fabs(b));
    const T sign = bit_copy<T>((bits(a) ^ bits(b)) & bits(T{-0.0}));
    return is_nan(r) ? r : Copysign::apply(sign, r);
  }
};

}  // namespace lab32::sim
