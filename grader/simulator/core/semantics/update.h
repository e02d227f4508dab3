// The update operations of atom, red and the copy engine's reductions: functions of the old value
// and the operand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "simulator/core/semantics/half.h"

namespace lab32::sim::update {

// kId is not 0 if the final value does not depend on the order of the updates (integers whose
// result is not used). Blocks on several host threads may then update concurrently.
struct Add {
  static constexpr uint8_t kId = 1;
  template <class T>
  static T apply(T old, T v) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(v));
    } else {
      return old + v;
    }
  }
};
struct Min {
  static constexpr uint8_t kId = 2;
  template <class T>
  static T apply(T old, T v) {
    return std::min(old, v);
  }
};
struct Max {
  static constexpr uint8_t kId = 3;
  template <class T>
  static T apply(T old, T v) {
    return std::max(old, v);
  }
};
struct And {
  static constexpr uint8_t kId = 4;
  template <class T>
  static T apply(T old, T v) {
    return old & v;
  }
};
struct Or {
  static constexpr uint8_t kId = 5;
  template <class T>
  static T apply(T old, T v) {
    return old | v;
  }
};
struct Xor {
  static constexpr uint8_t kId = 6;
  template <class T>
  static T apply(T old, T v) {
    return old ^ v;
  }
};
// PTX ISA: inc wraps to 0 above v; dec wraps to v below 1 or above v. They commute only if all
// operands are equal, which these functions do not check.
struct Inc {
  static constexpr uint8_t kId = 0;
  template <class T>
  static T apply(T old, T v) {
    return old >= v ? T{0} : old + 1;
  }
};
struct Dec {
  static constexpr uint8_t kId = 0;
  template <class T>
  static T apply(T old, T v) {
    return old == 0 || old > v ? v : old - 1;
  }
};
struct Exch {
  static constexpr uint8_t kId = 0;
  template <class T>
  static T apply(T, T v) {
    return v;
  }
};

// Half-precision values are passed as bits.
template <class H>
struct AddHalfOrHalf2 {
  static constexpr uint8_t kId = 0;
  static uint16_t add_halves(uint16_t a, uint16_t b) {
    return to_half<H>(to_float(H{a}) + to_float(H{b}), Rounding::rn).bits;
  }
  static uint16_t apply(uint16_t old, uint16_t v) { return add_halves(old, v); }
  static uint32_t apply(uint32_t old, uint32_t v) {
    return add_halves(static_cast<uint16_t>(old), static_cast<uint16_t>(v)) |
           static_cast<uint32_t>(
               add_halves(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(v >> 16)))
               << 16;
  }
};

}  // namespace lab32::sim::update
