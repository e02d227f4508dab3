// The carry chain: values and the flag of each lane, against 128-bit sums.
#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

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
  const bool writes = line.instruction().has(ptx::Mod::cc);
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

TEST_CASE("core: add.cc, addc, sub.cc, subc, mad.cc, madc") {
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
