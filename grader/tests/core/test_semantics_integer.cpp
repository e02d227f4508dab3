// The integer rows compared with 128-bit arithmetic and loops over bits.
#include <algorithm>
#include <limits>

#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

using namespace lab32::tests;

namespace {

template <class T>
constexpr int kWidth = sizeof(T) * 8;
template <class T>
constexpr Wide kMin = std::numeric_limits<T>::min();
template <class T>
constexpr Wide kMax = std::numeric_limits<T>::max();

template <class F>
void wide_integers(F f) {
  for_types<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>(f);
}
template <class F>
void all_words(F f) {
  for_types<uint32_t, uint64_t, int32_t, int64_t>(f);
}
template <class F>
void narrow_integers(F f) {
  for_types<uint16_t, uint32_t, int16_t, int32_t>(f);
}
template <class F>
void all_signed(F f) {
  for_types<int16_t, int32_t, int64_t>(f);
}

// 2N bits for products of N-bit numbers, also for 64-bit unsigned numbers.
template <class T>
T high_part(T a, T b) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>((Wide(a) * Wide(b)) >> kWidth<T>);
  } else {
    return static_cast<T>((static_cast<unsigned __int128>(a) * b) >> kWidth<T>);
  }
}
template <class T>
T low_part(T a, T b) {
  return static_cast<T>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
}
template <class T>
T sum(T a, T b) {
  return static_cast<T>(Wide(a) + Wide(b));
}

int32_t clamp32(Wide x) {
  return static_cast<int32_t>(std::clamp(x, kMin<int32_t>, kMax<int32_t>));
}

template <class T>
bool bit(T x, int i) {
  return (static_cast<std::make_unsigned_t<T>>(x) >> i & 1) != 0;
}

template <class T>
using Twice =
    std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

}  // namespace

TEST_CASE("core: integer add and sub equal 128-bit arithmetic") {
  wide_integers([](auto t) {
    using T = decltype(t);
    check_line<T, T, T>(line<T, T, T>(typed<T>("add")), sum<T>);
    check_line<T, T, T>(line<T, T, T>(typed<T>("sub")),
                        [](T a, T b) { return static_cast<T>(Wide(a) - Wide(b)); });
  });
  using I = int32_t;
  check_line<I, I, I>("add.sat.s32 %r1, %r2, %r3;", [](I a, I b) { return clamp32(Wide(a) + b); });
  check_line<I, I, I>("sub.sat.s32 %r1, %r2, %r3;", [](I a, I b) { return clamp32(Wide(a) - b); });
}

TEST_CASE("core: integer mul, mad and sad equal 128-bit arithmetic") {
  wide_integers([](auto t) {
    using T = decltype(t);
    check_line<T, T, T>(line<T, T, T>(typed<T>("mul.lo")), low_part<T>);
    check_line<T, T, T>(line<T, T, T>(typed<T>("mul.hi")), high_part<T>);
    check_line<T, T, T, T>(line<T, T, T, T>(typed<T>("mad.lo")),
                           [](T a, T b, T c) { return sum(low_part(a, b), c); });
    check_line<T, T, T, T>(line<T, T, T, T>(typed<T>("mad.hi")),
                           [](T a, T b, T c) { return sum(high_part(a, b), c); });
    check_line<T, T, T, T>(line<T, T, T, T>(typed<T>("sad")), [](T a, T b, T c) {
      return static_cast<T>(Wide(c) + std::max(a, b) - Wide(std::min(a, b)));
    });
  });
  narrow_integers([](auto t) {
    using T = decltype(t);
    using W = Twice<T>;
    check_line<W, T, T>(line<W, T, T>(typed<T>("mul.wide")),
                        [](T a, T b) { return static_cast<W>(Wide(a) * Wide(b)); });
    check_line<W, T, T, W>(line<W, T, T, W>(typed<T>("mad.wide")), [](T a, T b, W c) {
      return static_cast<W>(Wide(a) * Wide(b) + Wide(c));
    });
  });
  using I = int32_t;
  check_line<I, I, I, I>("mad.hi.sat.s32 %r1, %r2, %r3, %r4;",
                         [](I a, I b, I c) { return clamp32(Wide(high_part(a, b)) + c); });
}

TEST_CASE("core: integer mul24 and mad24 equal 128-bit arithmetic") {
  for_types<uint32_t, int32_t>([](auto t) {
    using T = decltype(t);
    const auto operand = [](T x) -> Wide {
      const Wide low = static_cast<uint32_t>(x) % (1u << 24);
      return std::is_signed_v<T> && low >= 1 << 23 ? low - (1 << 24) : low;
    };
    const auto lo = [=](T a, T b) { return static_cast<T>(operand(a) * operand(b)); };
    const auto hi = [=](T a, T b) { return static_cast<T>((operand(a) * operand(b)) >> 16); };
    check_line<T, T, T>(line<T, T, T>(typed<T>("mul24.lo")), lo);
    check_line<T, T, T>(line<T, T, T>(typed<T>("mul24.hi")), hi);
    check_line<T, T, T, T>(line<T, T, T, T>(typed<T>("mad24.lo")),
                           [=](T a, T b, T c) { return sum(lo(a, b), c); });
    check_line<T, T, T, T>(line<T, T, T, T>(typed<T>("mad24.hi")),
                           [=](T a, T b, T c) { return sum(hi(a, b), c); });
  });
}

TEST_CASE("core: integer div and rem by zero give all ones, as measured on an H200") {
  wide_integers([](auto t) {
    using T = decltype(t);
    check_line<T, T, T>(line<T, T, T>(typed<T>("div")),
                        [](T a, T b) { return b == 0 ? T(-1) : static_cast<T>(Wide(a) / b); });
    check_line<T, T, T>(line<T, T, T>(typed<T>("rem")),
                        [](T a, T b) { return b == 0 ? T(-1) : static_cast<T>(Wide(a) % b); });
  });
}

TEST_CASE("core: integer abs, neg, min and max follow their definitions") {
  all_signed([](auto t) {
    using T = decltype(t);
    check_line<T, T>(line<T, T>(typed<T>("abs")),
                     [](T a) { return static_cast<T>(a < 0 ? -Wide(a) : Wide(a)); });
    check_line<T, T>(line<T, T>(typed<T>("neg")), [](T a) { return static_cast<T>(-Wide(a)); });
  });
  wide_integers([](auto t) {
    using T = decltype(t);
    check_line<T, T, T>(line<T, T, T>(typed<T>("min")), [](T a, T b) { return std::min(a, b); });
    check_line<T, T, T>(line<T, T, T>(typed<T>("max")), [](T a, T b) { return std::max(a, b); });
  });
}

TEST_CASE("core: popc, clz, bfind and brev follow their definitions") {
  for_types<uint32_t, uint64_t>([](auto t) {
    using T = decltype(t);
    const std::string b = ".b" + std::to_string(kWidth<T>);
    check_line<uint32_t, T>(line<uint32_t, T>("popc" + b), [](T a) {
      uint32_t n = 0;
      for (int i = 0; i < kWidth<T>; ++i) n += bit(a, i);
      return n;
    });
    check_line<uint32_t, T>(line<uint32_t, T>("clz" + b), [](T a) {
      uint32_t n = 0;
      while (n < kWidth<T> && !bit(a, static_cast<int>(kWidth<T> - 1 - n))) ++n;
      return n;
    });
    check_line<T, T>(line<T, T>("brev" + b), [](T a) {
      T r = 0;
      for (int i = 0; i < kWidth<T>; ++i) r |= static_cast<T>(T(bit(a, i)) << (kWidth<T> - 1 - i));
      return r;
    });
  });
  all_words([](auto t) {
    using T = decltype(t);
    const auto place = [](T a) {
      int i = kWidth<T> - 1;
      while (i >= 0 && bit(a, i) == (std::is_signed_v<T> && a < 0)) --i;
      return i;
    };
    check_line<uint32_t, T>(line<uint32_t, T>(typed<T>("bfind")),
                            [=](T a) { return static_cast<uint32_t>(place(a)); });
    check_line<uint32_t, T>(line<uint32_t, T>(typed<T>("bfind.shiftamt")), [=](T a) {
      return place(a) < 0 ? 0xffffffffu : static_cast<uint32_t>(kWidth<T> - 1 - place(a));
    });
  });
}

// The pseudocode of the ISA, bit by bit. Its positions and lengths are 0…255. The 64-bit forms use
// all bits of them, so the table of hardware results covers larger values.
TEST_CASE("core: bfe and bfi follow the ISA's pseudocode") {
  all_words([](auto t) {
    using T = decltype(t);
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t msb = kWidth<T> - 1;
    const auto value = [=](T a, uint32_t pos, uint32_t len) {
      pos &= 0xff;
      len &= 0xff;
      const bool sign =
          std::is_signed_v<T> && len != 0 && bit(a, static_cast<int>(std::min(pos + len - 1, msb)));
      U d = 0;
      for (uint32_t i = 0; i <= msb; ++i) {
        const bool set = i < len && pos + i <= msb ? bit(a, static_cast<int>(pos + i)) : sign;
        d |= static_cast<U>(U(set) << i);
      }
      return static_cast<T>(d);
    };
    if constexpr (sizeof(T) == 4) {
      check_line<T, T, uint32_t, uint32_t>(line<T, T, uint32_t, uint32_t>(typed<T>("bfe")), value);
    } else {
      for (int pos : {0, 1, 31, 32, 40, 63, 64, 100, 255}) {
        for (int len : {0, 1, 8, 31, 32, 33, 63, 64, 65, 255}) {
          const std::string rest = ", " + std::to_string(pos) + ", " + std::to_string(len) + ";";
          check_line<T, T>(typed<T>("bfe") + " %rd1, %rd2" + rest, [=](T a) {
            return value(a, static_cast<uint32_t>(pos), static_cast<uint32_t>(len));
          });
        }
      }
    }
  });
  for_types<uint32_t, uint64_t>([](auto t) {
    using T = decltype(t);
    const std::string opcode = "bfi.b" + std::to_string(kWidth<T>);
    const auto value = [](T a, T b, uint32_t pos, uint32_t len) {
      pos &= 0xff;
      len &= 0xff;
      for (uint32_t i = 0; i < len && pos + i < kWidth<T>; ++i) {
        const T one = static_cast<T>(T{1} << (pos + i));
        b = static_cast<T>(bit(a, static_cast<int>(i)) ? b | one : b & ~one);
      }
      return b;
    };
    if constexpr (sizeof(T) == 4) {
      check_line<T, T, T, uint32_t, uint32_t>(line<T, T, T, uint32_t, uint32_t>(opcode), value);
    } else {
      for (int pos : {0, 1, 31, 32, 40, 63, 64, 255}) {
        for (int len : {0, 1, 8, 32, 63, 64, 255}) {
          const std::string rest = ", " + std::to_string(pos) + ", " + std::to_string(len) + ";";
          check_line<T, T, T>(opcode + " %rd1, %rd2, %rd3" + rest, [=](T a, T b) {
            return value(a, b, static_cast<uint32_t>(pos), static_cast<uint32_t>(len));
          });
        }
      }
    }
  });
}

TEST_CASE("core: szext and bmsk follow their definitions") {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? ".wrap" : ".clamp";
    const auto count = [=](uint32_t n) { return wrap ? n % 32 : std::min(n, 32u); };
    for_types<uint32_t, int32_t>([&](auto t) {
      using T = decltype(t);
      check_line<T, T, uint32_t>(
          line<T, T, uint32_t>(typed<T>("szext" + mode)), [=](T a, uint32_t n) {
            n = count(n);
            const bool sign = std::is_signed_v<T> && n > 0 && bit(a, static_cast<int>(n) - 1);
            uint32_t d = 0;
            for (uint32_t i = 0; i < 32; ++i) {
              d |= uint32_t(i < n ? bit(a, static_cast<int>(i)) : sign) << i;
            }
            return static_cast<T>(d);
          });
    });
    using U = uint32_t;
    check_line<U, U, U>("bmsk" + mode + ".b32 %r1, %r2, %r3;", [=](U a, U b) {
      U d = 0;
      for (U i = 0; i < 32; ++i) {
        const bool in_mask = i >= count(a) && i - count(a) < count(b);
        d |= U(in_mask) << i;
      }
      return d;
    });
  }
}

TEST_CASE("core: fns finds the n-th set bit") {
  using U = uint32_t;
  check_line<U, U, U, int32_t>("fns.b32 %r1, %r2, %r3, %r4;", [](U mask, U base, int32_t n) -> U {
    std::vector<U> set;  // positions of set bits, in the direction of n, from base on
    if (base > 31) return ~U{0};
    for (U i = 0; i < 32; ++i) {
      const U pos = n < 0 ? 31 - i : i;
      const bool behind = n < 0 ? pos <= base : pos >= base;
      if (behind && (mask >> pos & 1) != 0) set.push_back(pos);
    }
    if (n == 0) return !set.empty() && set[0] == base ? base : ~U{0};
    const auto wanted = static_cast<uint64_t>(n < 0 ? -int64_t{n} : n);
    return wanted <= set.size() ? set[wanted - 1] : ~U{0};
  });
}

TEST_CASE("core: dp4a and dp2a are dot products") {
  const auto element = [](uint32_t x, int bits, int i, bool is_signed) -> Wide {
    const Wide v = x >> (bits * i) & ((1u << bits) - 1);
    return is_signed && v >= 1 << (bits - 1) ? v - (1 << bits) : v;
  };
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string types = std::string(sa ? ".s32" : ".u32") + (sb ? ".s32" : ".u32");
      using U = uint32_t;
      check_line<U, U, U, U>("dp4a" + types + " %r1, %r2, %r3, %r4;", [=](U a, U b, U c) {
        Wide d = c;
        for (int i = 0; i < 4; ++i) d += element(a, 8, i, sa) * element(b, 8, i, sb);
        return static_cast<U>(d);
      });
      for (const int first : {0, 2}) {
        const std::string half = first == 0 ? ".lo" : ".hi";
        check_line<U, U, U, U>("dp2a" + half + types + " %r1, %r2, %r3, %r4;", [=](U a, U b, U c) {
          Wide d = c;
          for (int i = 0; i < 2; ++i) d += element(a, 16, i, sa) * element(b, 8, first + i, sb);
          return static_cast<U>(d);
        });
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The carry chain: values and each lane's flag, compared with 128-bit sums.

using namespace lab32;
using namespace lab32::tests;

namespace {

// Runs `text` with a carry in each lane; `exact` gives the unbounded unsigned result of its
// operands and the carry. The flag is bit N of it, and only .cc changes the flag.
template <class T, class F>
void check_carry(const std::string& text, int operands, F exact) {
  using U = std::make_unsigned_t<T>;
  Line line(text);
  mark_covered(line.instruction());
  const bool writes = line.instruction().has(ptx::Modifier::cc);
  const std::vector<T> values = interesting<T>(40);
  std::mt19937 random(5);
  const auto draw = [&] { return values[random() % values.size()]; };
  for (int batch = 0; batch < 100; ++batch) {
    const uint32_t mask = batch % 3 == 0 ? ~0u : batch % 3 == 1 ? random() | 1 : 1u << batch % 32;
    const uint32_t carry_in = random();
    T s[3][32];
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < operands; ++i) {
        s[i][lane] = draw();
        line.set(line.inst().src[i], lane, s[i][lane]);
      }
      line.set(line.inst().dst[0], lane, static_cast<T>(77));
    }
    line.set_word(line.carry(), carry_in);
    line.run(mask);
    for (int lane = 0; lane < 32; ++lane) {
      const bool in = (carry_in >> lane & 1) != 0;
      const bool active = (mask >> lane & 1) != 0;
      const unsigned __int128 result = exact(s[0][lane], s[1][lane], s[2][lane], in);
      const T want = active ? static_cast<T>(static_cast<U>(result)) : static_cast<T>(77);
      const bool flag = active && writes ? (result >> (sizeof(T) * 8) & 1) != 0 : in;
      REQUIRE_MESSAGE(line.get<T>(line.inst().dst[0], lane) == want, text);
      REQUIRE_MESSAGE(line.get<bool>(line.carry(), lane) == flag, text);
    }
  }
}

template <class T>
unsigned __int128 product_part(T a, T b, bool high) {
  using U = std::make_unsigned_t<T>;
  const unsigned __int128 p =
      std::is_signed_v<T> ? static_cast<unsigned __int128>(Wide(a) * Wide(b))
                          : static_cast<unsigned __int128>(static_cast<U>(a)) * static_cast<U>(b);
  return static_cast<U>(high ? p >> (sizeof(T) * 8) : p);
}

}  // namespace

TEST_CASE("core: add.cc, addc, sub.cc, subc, mad.cc and madc carry correctly") {
  for_types<uint32_t, int32_t, uint64_t, int64_t>([](auto t) {
    using T = decltype(t);
    using U = std::make_unsigned_t<T>;
    const auto add = [](T a, T b, T, bool c) {
      return static_cast<unsigned __int128>(static_cast<U>(a)) + static_cast<U>(b) + c;
    };
    const auto sub = [](T a, T b, T, bool c) {
      return static_cast<unsigned __int128>(static_cast<U>(a)) - static_cast<U>(b) - c;
    };
    const auto no_carry = [](auto f) {
      return [f](T a, T b, T c, bool) { return f(a, b, c, false); };
    };
    check_carry<T>(line<T, T, T>(typed<T>("add.cc")), 2, no_carry(add));
    check_carry<T>(line<T, T, T>(typed<T>("addc")), 2, add);
    check_carry<T>(line<T, T, T>(typed<T>("addc.cc")), 2, add);
    check_carry<T>(line<T, T, T>(typed<T>("sub.cc")), 2, no_carry(sub));
    check_carry<T>(line<T, T, T>(typed<T>("subc")), 2, sub);
    check_carry<T>(line<T, T, T>(typed<T>("subc.cc")), 2, sub);
    for (const bool high : {false, true}) {
      const std::string part = high ? ".hi" : ".lo";
      const auto mad = [high](T a, T b, T c, bool carry) {
        return product_part(a, b, high) + static_cast<U>(c) + carry;
      };
      check_carry<T>(line<T, T, T, T>(typed<T>("mad" + part + ".cc")), 3, no_carry(mad));
      check_carry<T>(line<T, T, T, T>(typed<T>("madc" + part)), 3, mad);
      check_carry<T>(line<T, T, T, T>(typed<T>("madc" + part + ".cc")), 3, mad);
    }
  });
}
