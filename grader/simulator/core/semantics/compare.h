// Comparison (PTX ISA 9.0, 9.7.6) on one lane's values.
#pragma once

#include <type_traits>

namespace lab32::sim {

enum class Compare { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// The forms with u are true if an operand is NaN. For integers they do not exist.
template <Compare C, class T>
inline bool compare(T a, T b) {
  switch (C) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a < b || a > b;  // false for NaN, unlike !=
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
    case Compare::equ:
      return !(a < b || a > b);
    case Compare::neu:
      return !(a == b);
    case Compare::ltu:
      return !(a >= b);
    case Compare::leu:
      return !(a > b);
    case Compare::gtu:
      return !(a <= b);
    case Compare::geu:
      return !(a < b);
    case Compare::num:
      return a == a && b == b;
    case Compare::nan:
      return a != a || b != b;
  }
  return false;
}

}  // namespace lab32::sim
