// Sizes and addresses rounded up.
#pragma once

#include <type_traits>

namespace lab32 {

// The least multiple of `unit`, which must not be 0, that is not below `value`.
template <class T>
constexpr T align_up(T value, std::common_type_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace lab32
