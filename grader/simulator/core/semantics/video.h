// Video instructions (PTX ISA 9.0, 9.7.17 and 9.7.18) on one lane's values: an operation on two
// integers that is exact, and what becomes of its result.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lab32::sim {

enum class VideoOp : uint8_t { add, sub, average, absdiff, min, max, eq, ne, lt, le, gt, ge };

// Of elements as their types extend them.
inline int64_t video(VideoOp op, int64_t a, int64_t b) {
  switch (op) {
    case VideoOp::add:
      return a + b;
    case VideoOp::sub:
      return a - b;
    case VideoOp::average:  // rounded to the nearest, halves away from zero
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOp::absdiff:
      return a < b ? b - a : a - b;
    case VideoOp::min:
      return std::min(a, b);
    case VideoOp::max:
      return std::max(a, b);
    case VideoOp::eq:
      return a == b;
    case VideoOp::ne:
      return a != b;
    case VideoOp::lt:
      return a < b;
    case VideoOp::le:
      return a <= b;
    case VideoOp::gt:
      return a > b;
    case VideoOp::ge:
      return a >= b;
  }
  return 0;
}

// The lowest `bits` bits of a word, as a number.
inline int64_t extended(uint32_t word, int bits, bool is_signed) {
  const uint64_t raw = word & ((uint64_t{1} << bits) - 1);
  const uint64_t sign = uint64_t{1} << (bits - 1);
  return static_cast<int64_t>(is_signed ? (raw ^ sign) - sign : raw);
}

// .sat: kept in the range of so many bits.
inline int64_t kept_in(int64_t value, int bits, bool is_signed) {
  const int64_t least = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  return std::clamp(value, least, least + (int64_t{1} << bits) - 1);
}

}  // namespace lab32::sim
