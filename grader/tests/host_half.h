// The 16-bit formats by search in the list of all their values, with numbers in quadruple
// precision: slow, simple, and nothing like the simulator's way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/host_reference.h"
#include "tests/opcode_harness.h"

namespace lab32::tests {

using Quad = __float128;

// A sum with what its rounding to 113 bits left out: exact.
struct Exact {
  Quad value, rest = 0;
};

inline Exact exact_sum(Quad a, Quad b) {
  const Quad sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

class HalfFormat {
 public:
  HalfFormat(int exponent_bits, int fraction_bits)
      : fraction_bits_(fraction_bits), bias_((1 << (exponent_bits - 1)) - 1) {
    infinity_ = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
    for (uint32_t b = 0; b < infinity_; ++b) magnitudes_.push_back(magnitude(b));
    magnitudes_.push_back(magnitude(infinity_));  // as if the range went on: where it overflows
  }

  bool is_nan(uint16_t b) const { return (b & 0x7fff) > infinity_; }
  uint16_t infinity() const { return infinity_; }
  uint16_t smallest_normal() const { return static_cast<uint16_t>(1u << fraction_bits_); }
  uint16_t flushed(uint16_t b) const { return (b & 0x7fff) < smallest_normal() ? b & 0x8000 : b; }
  double value(uint16_t b) const {
    if (is_nan(b)) return NAN;
    const double m =
        (b & 0x7fff) == infinity_ ? INFINITY : static_cast<double>(magnitude(b & 0x7fff));
    return (b & 0x8000) != 0 ? -m : m;
  }

  // x (NaN, infinite or finite) in a host rounding mode.
  uint16_t round(Exact x, int mode) const {
    const auto rough = static_cast<double>(x.value);
    if (std::isnan(rough)) return 0x7fff;
    const uint16_t sign = std::signbit(rough) ? 0x8000 : 0;
    if (x.value == 0) return sign;
    if (x.value - x.value != 0) return sign | infinity_;  // NaN != 0
    const Quad m = sign != 0 ? -x.value : x.value, rest = sign != 0 ? -x.rest : x.rest;
    // The number of listed values that are at most m + rest.
    const auto above = std::partition_point(magnitudes_.begin(), magnitudes_.end(),
                                            [&](Quad v) { return (m - v) + rest >= 0; });
    const auto low = static_cast<size_t>(above - magnitudes_.begin()) - 1;
    if (above == magnitudes_.end()) return sign | overflow(mode, sign != 0);
    if ((m - magnitudes_[low]) + rest == 0) return static_cast<uint16_t>(sign | low);
    const Quad middle = (magnitudes_[low] + magnitudes_[low + 1]) / 2;
    const Quad beyond = (m - middle) + rest;
    const bool up = mode == FE_TONEAREST  ? beyond > 0 || (beyond == 0 && (low & 1) != 0)
                    : mode == FE_UPWARD   ? sign == 0
                    : mode == FE_DOWNWARD ? sign != 0
                                          : false;
    return static_cast<uint16_t>(sign | (low + (up ? 1 : 0)));
  }
  uint16_t round(double x, int mode) const { return round(Exact{x}, mode); }

 private:
  Quad magnitude(uint32_t b) const {
    const int field = static_cast<int>(b >> fraction_bits_);
    const uint32_t fraction = b & ((1u << fraction_bits_) - 1);
    const uint32_t m = field == 0 ? fraction : fraction | 1u << fraction_bits_;
    return std::ldexp(static_cast<double>(m), std::max(field, 1) - bias_ - fraction_bits_);
  }
  uint16_t overflow(int mode, bool negative) const {
    const bool infinite = mode == FE_TONEAREST || (mode == FE_UPWARD && !negative) ||
                          (mode == FE_DOWNWARD && negative);
    return infinite ? infinity_ : static_cast<uint16_t>(infinity_ - 1);
  }

  int fraction_bits_, bias_;
  uint16_t infinity_;
  std::vector<Quad> magnitudes_;
};

inline const HalfFormat& f16() {
  static const HalfFormat format(5, 10);
  return format;
}
inline const HalfFormat& bf16() {
  static const HalfFormat format(8, 7);
  return format;
}

}  // namespace lab32::tests
