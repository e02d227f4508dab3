// Logic, shifts and byte permutation (PTX ISA 9.0, 9.7.7 and 9.7.9.7) on one lane's values.
#pragma once

#include <cstdint>
#include <type_traits>

namespace lab32::sim {

struct AndBits {
  template <class T>
  static T apply(T a, T b) {
    return a & b;
  }
};
struct OrBits {
  template <class T>
  static T apply(T a, T b) {
    return a | b;
  }
};
struct XorBits {
  template <class T>
  static T apply(T a, T b) {
    return a ^ b;
  }
};
struct NotBits {
  template <class T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct CNot {
  template <class T>
  static T apply(T a) {
    return a == 0 ? 1 : 0;
  }
};

// Bit i of the table is the result where a, b, c have the bits of i (a the highest).
class Lop3 {
 public:
  explicit Lop3(uint32_t table) {
    for (uint32_t i = 0; i < 8; ++i) row_[i] = 0u - (table >> i & 1u);
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return (a & choose(b, choose(c, row_[7], row_[6]), choose(c, row_[5], row_[4]))) |
           (~a & choose(b, choose(c, row_[3], row_[2]), choose(c, row_[1], row_[0])));
  }

 private:
  static uint32_t choose(uint32_t by, uint32_t ones, uint32_t zeros) {
    return (by & ones) | (~by & zeros);
  }
  uint32_t row_[8];
};

// The funnel: {b, a} shifted; .l gives the upper word, .r the lower one.
template <bool Wrap>
inline uint32_t funnel_count(uint32_t c) {
  return Wrap ? c & 31 : c < 32 ? c : 32;
}
template <bool Wrap>
struct ShfLeft {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>((both << funnel_count<Wrap>(c)) >> 32);
  }
};
template <bool Wrap>
struct ShfRight {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    return static_cast<uint32_t>(both >> funnel_count<Wrap>(c));
  }
};

// Counts beyond the width shift everything out. The masked count keeps the shift defined in the
// lanes whose result is not taken.
struct Shl {
  template <class T>
  static T apply(T a, uint32_t n) {
    constexpr uint32_t width = sizeof(T) * 8;
    return n < width ? static_cast<T>(a << (n & (width - 1))) : T{0};
  }
};
struct Shr {
  template <class T>
  static T apply(T a, uint32_t n) {
    constexpr uint32_t width = sizeof(T) * 8;
    if (std::is_signed_v<T>) return static_cast<T>(a >> (n < width ? n : width - 1));
    return n < width ? static_cast<T>(a >> (n & (width - 1))) : T{0};
  }
};

// --- prmt ----------------------------------------------------------------------------------------

// Byte n of {b, a}; with bit 3 of the selector, copies of its sign instead.
inline uint32_t select_byte(uint64_t both, uint32_t selector) {
  const auto byte = static_cast<uint32_t>(both >> (8 * (selector & 7))) & 0xff;
  return (selector & 8) != 0 ? (byte & 0x80 ? 0xffu : 0u) : byte;
}
struct Prmt {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    const uint64_t both = uint64_t{b} << 32 | a;
    uint32_t d = 0;
    for (int i = 0; i < 4; ++i) d |= select_byte(both, c >> (4 * i)) << (8 * i);
    return d;
  }
};
// The named modes: rows of the ISA's table, one nibble a result byte, for c's two low bits 0 to 3.
struct PrmtMode {
  uint16_t selectors[4];
};
inline constexpr PrmtMode kPrmtF4e{{0x3210, 0x4321, 0x5432, 0x6543}};
inline constexpr PrmtMode kPrmtB4e{{0x5670, 0x6701, 0x7012, 0x0123}};
inline constexpr PrmtMode kPrmtRc8{{0x0000, 0x1111, 0x2222, 0x3333}};
inline constexpr PrmtMode kPrmtEcl{{0x3210, 0x3211, 0x3222, 0x3333}};
inline constexpr PrmtMode kPrmtEcr{{0x0000, 0x1110, 0x2210, 0x3210}};
inline constexpr PrmtMode kPrmtRc16{{0x1010, 0x3232, 0x1010, 0x3232}};
template <const PrmtMode& Mode>
struct PrmtNamed {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
    return Prmt::apply(a, b, Mode.selectors[c & 3]);
  }
};

}  // namespace lab32::sim
