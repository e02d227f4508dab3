// Integer arithmetic (PTX ISA 9.0, 9.7.1 and 9.7.2) on one lane's values, in the order of
// opcodes.def.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/core/semantics/rounding.h"

namespace lab32::sim {

// The unsigned type for arithmetic modulo 2^n, one that the compiler does not promote to int.
template <class T>
using Modular = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;

template <class T>
struct WiderOf;
template <>
struct WiderOf<uint8_t> {
  using type = uint16_t;
};
template <>
struct WiderOf<int8_t> {
  using type = int16_t;
};
template <>
struct WiderOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WiderOf<int16_t> {
  using type = int32_t;
};
template <>
struct WiderOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WiderOf<int32_t> {
  using type = int64_t;
};
template <>
struct WiderOf<uint64_t> {
  using type = uint128;
};
template <>
struct WiderOf<int64_t> {
  using type = int128;
};
template <class T>
using Wider = typename WiderOf<T>::type;

template <class T>
constexpr int kBits = static_cast<int>(sizeof(T) * 8);

// All functions take and return T unless noted. They avoid branches where the compiler should
// vectorise.
struct Add {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Modular<T>(a) + Modular<T>(b));
  }
};
struct Sub {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Modular<T>(a) - Modular<T>(b));
  }
};
template <class T>
inline T saturate(Wider<T> x) {
  constexpr Wider<T> low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(x < low ? low : x > high ? high : x);
}
struct AddSat {
  static int32_t apply(int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} + b); }
};
struct SubSat {
  static int32_t apply(int32_t a, int32_t b) { return saturate<int32_t>(int64_t{a} - b); }
};
struct MulLo {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(Modular<T>(a) * Modular<T>(b));
  }
};
struct MulHi {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>((Wider<T>(a) * Wider<T>(b)) >> kBits<T>);
  }
};
struct MulWide {
  template <class T>
  static Wider<T> apply(T a, T b) {
    return static_cast<Wider<T>>(static_cast<Modular<Wider<T>>>(Wider<T>(a)) *
                                 static_cast<Modular<Wider<T>>>(Wider<T>(b)));
  }
};
struct MadLo {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLo::apply(a, b), c);
  }
};
struct MadHi {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHi::apply(a, b), c);
  }
};
struct MadHiSat {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return AddSat::apply(MulHi::apply(a, b), c);
  }
};
struct MadWide {
  template <class T>
  static Wider<T> apply(T a, T b, Wider<T> c) {
    return Add::apply(MulWide::apply(a, b), c);
  }
};
// The 48-bit product of 24-bit operands. .hi selects its bits 47..16, .lo its bits 31..0.
template <class T>
inline Wider<T> multiply_24_bits(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    const auto extend = [](T x) { return static_cast<T>(static_cast<uint32_t>(x) << 8) >> 8; };
    return Wider<T>(extend(a)) * extend(b);
  } else {
    return Wider<T>(a & 0xffffff) * (b & 0xffffff);
  }
}
struct Mul24Lo {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(multiply_24_bits(a, b));
  }
};
struct Mul24Hi {
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(multiply_24_bits(a, b) >> 16);
  }
};
template <class Mul>
struct MultiplyAddInt {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul::apply(a, b), c);
  }
};
struct Sad {
  template <class T>
  static T apply(T a, T b, T c) {
    return Add::apply(a < b ? Sub::apply(b, a) : Sub::apply(a, b), c);
  }
};
// Division by zero is "unspecified, machine-specific" in the ISA. With the code that ptxas emits
// (measured on an H200, 16 to 64 bits, signed or not), quotient and remainder are all ones. The
// 16-bit forms divide as 32-bit numbers. Minimum / -1 wraps to the minimum, its remainder is 0.
struct DivInt {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct RemInt {
  template <class T>
  static T apply(T a, T b) {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct NegInt {
  template <class T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
};
struct AbsInt {
  template <class T>
  static T apply(T a) {
    return a < 0 ? NegInt::apply(a) : a;
  }
};
struct MinInt {
  template <class T>
  static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct MaxInt {
  template <class T>
  static T apply(T a, T b) {
    return a > b ? a : b;
  }
};

// --- bits ----------------------------------------------------------------------------------------

struct Popc {
  template <class T>
  static uint32_t apply(T a) {
    return static_cast<uint32_t>(__builtin_popcountll(a));
  }
};
struct Clz {
  template <class T>
  static uint32_t apply(T a) {
    return a == 0 ? kBits<T> : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - kBits<T>);
  }
};
// The position of the highest bit that differs from the sign; all ones if there is none. With
// ShiftAmount, the result is the left shift that would move this bit to the top.
template <bool ShiftAmount>
struct Bfind {
  template <class T>
  static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    const U significant = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
    if (significant == 0) return 0xffffffffu;
    const uint32_t place = kBits<T> - 1 - Clz::apply(significant);
    return ShiftAmount ? kBits<T> - 1 - place : place;
  }
};
struct Brev {
  template <class T>
  static T apply(T a) {
    uint64_t x = a;
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return static_cast<T>(__builtin_bswap64(x) >> (64 - kBits<T>));
  }
};
// The position or length operand of bfe and bfi. The 32-bit forms use its lowest byte. ptxas builds
// the 64-bit forms from shifts, which use the whole operand. The ISA restricts operands to 0…255,
// where both agree.
template <class T>
inline uint64_t bit_field_operand(uint32_t x) {
  return sizeof(T) == 4 ? x & 0xff : x;
}
// Bits above the field (or the register) are zero, or copies of the sign: the field's top bit, or
// the register's if the field extends beyond it.
struct Bfe {
  template <class T>
  static T apply(T a, uint32_t b, uint32_t c) {
    using U = std::make_unsigned_t<T>;
    constexpr uint64_t last = kBits<T> - 1;
    const uint64_t pos = bit_field_operand<T>(b), len = bit_field_operand<T>(c);
    if (len == 0) return 0;
    const uint64_t top = pos + len - 1 < last ? pos + len - 1 : last;
    const bool sign = std::is_signed_v<T> && ((static_cast<U>(a) >> top) & 1) != 0;
    const U field = pos > last ? U{0} : static_cast<U>(static_cast<U>(a) >> pos);
    const uint64_t width = pos > last ? 0 : top - pos + 1;
    const U above = width > last ? U{0} : static_cast<U>(~U{0} << width);
    return static_cast<T>(sign ? field | above : field & ~above);
  }
};
// Inserts bits of a into b; bits beyond the register are dropped.
struct Bfi {
  template <class T>
  static T apply(T a, T b, uint32_t c, uint32_t d) {
    const uint64_t pos = bit_field_operand<T>(c), len = bit_field_operand<T>(d);
    if (pos >= kBits<T> || len == 0) return b;
    const T ones = len >= kBits<T> ? ~T{0} : static_cast<T>((T{1} << len) - 1);
    const T field = static_cast<T>(ones << pos);
    return static_cast<T>((b & ~field) | ((a << pos) & field));
  }
};
// Extends the n-bit number in the low bits of a. .clamp: n above 32 is 32; .wrap: n modulo 32.
template <bool Wrap>
struct Szext {
  template <class T>
  static T apply(T a, uint32_t n) {
    if (Wrap) n &= 31;
    if (n >= 32) return a;
    if (n == 0) return 0;
    const uint32_t spare = 32 - n;
    const uint32_t high = static_cast<uint32_t>(a) << spare;
    return static_cast<T>(static_cast<T>(high) >> spare);
  }
};
// A mask of b ones from bit a on.
template <bool Wrap>
struct Bmsk {
  static uint32_t apply(uint32_t a, uint32_t b) {
    if (Wrap) {
      a &= 31;
      b &= 31;
    }
    const uint64_t ones = b >= 32 ? 0xffffffffull : (uint64_t{1} << b) - 1;
    return a >= 32 ? 0 : static_cast<uint32_t>(ones << a);
  }
};
// The position of the |n|-th set bit of the mask, from bit `base` upwards (n > 0) or downwards; n =
// 0: base itself if it is set. All ones: there is no such bit.
struct FindNthSetBit {
  static uint32_t apply(uint32_t mask, uint32_t base, int32_t n) {
    int64_t count = n < 0 ? -int64_t{n} : n;
    const int step = n < 0 ? -1 : 1;
    for (int64_t pos = static_cast<int32_t>(base); pos >= 0 && pos < 32; pos += step) {
      const bool set = (mask >> pos & 1) != 0;
      if (n == 0) return set ? base : ~uint32_t{0};
      if (set && --count == 0) return static_cast<uint32_t>(pos);
    }
    return ~uint32_t{0};
  }
};
// Element i of four bytes or two halves, extended as Signed says.
template <bool Signed>
inline int32_t byte_of(uint32_t x, int i) {
  const auto v = static_cast<uint8_t>(x >> (8 * i));
  return Signed ? static_cast<int8_t>(v) : v;
}
template <bool Signed>
inline int32_t half_of(uint32_t x, int i) {
  const auto v = static_cast<uint16_t>(x >> (16 * i));
  return Signed ? static_cast<int16_t>(v) : v;
}
template <bool SignedA, bool SignedB>
struct Dp4a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; ++i) {
      c += static_cast<uint32_t>(byte_of<SignedA>(a, i) * byte_of<SignedB>(b, i));
    }
    return c;
  }
};
template <bool Hi, bool SignedA, bool SignedB>
struct Dp2a {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 2; ++i) {
      c += static_cast<uint32_t>(half_of<SignedA>(a, i) * byte_of<SignedB>(b, i + (Hi ? 2 : 0)));
    }
    return c;
  }
};

}  // namespace lab32::sim
