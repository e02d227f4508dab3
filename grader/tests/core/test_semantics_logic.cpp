// Logic, shifts, prmt and mov compared with definitions by bits and bytes.
#include <array>

#include "tests/fixtures/host_reference.h"
#include "tests/fixtures/opcode_harness.h"

using namespace lab32;
using namespace lab32::tests;

namespace {

template <class F>
void all_bits(F f) {
  for_types<uint16_t, uint32_t, uint64_t>(f);
}

template <class T>
std::string bits_type(const std::string& op) {
  return op + ".b" + std::to_string(sizeof(T) * 8);
}

}  // namespace

TEST_CASE("core: logic works on registers and on predicates") {
  all_bits([](auto t) {
    using T = decltype(t);
    check_line<T, T, T>(line<T, T, T>(bits_type<T>("and")), [](T a, T b) { return T(a & b); });
    check_line<T, T, T>(line<T, T, T>(bits_type<T>("or")), [](T a, T b) { return T(a | b); });
    check_line<T, T, T>(line<T, T, T>(bits_type<T>("xor")), [](T a, T b) { return T(a ^ b); });
    check_line<T, T>(line<T, T>(bits_type<T>("not")), [](T a) { return T(~a); });
    check_line<T, T>(line<T, T>(bits_type<T>("cnot")), [](T a) { return T(a == 0 ? 1 : 0); });
  });
  check_line<bool, bool, bool>("and.pred %p1, %p2, %p3;", [](bool a, bool b) { return a && b; });
  check_line<bool, bool, bool>("or.pred %p1, %p2, %p3;", [](bool a, bool b) { return a || b; });
  check_line<bool, bool, bool>("xor.pred %p1, %p2, %p3;", [](bool a, bool b) { return a != b; });
  check_line<bool, bool>("not.pred %p1, %p2;", [](bool a) { return !a; });
  check_line<bool, bool>("mov.pred %p1, %p2;", [](bool a) { return a; });
  check_line<bool, bool, bool>("and.pred %p1, %p2, !%p3;", [](bool a, bool b) { return a && !b; });
}

TEST_CASE("core: lop3 computes all 256 tables") {
  for (uint32_t table = 0; table < 256; ++table) {
    const auto value = [table](uint32_t a, uint32_t b, uint32_t c) {
      uint32_t d = 0;
      for (int i = 0; i < 32; ++i) {
        const uint32_t row = (a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1);
        d |= (table >> row & 1) << i;
      }
      return d;
    };
    using U = uint32_t;
    const std::string rest = " %r1, %r2, %r3, " + std::to_string(table);
    check_line<U, U, U, U>("lop3.b32 %r4," + rest + ";", value);
    if (table % 51 != 0) continue;
    check_line<U, U, U, U>("lop3.or.b32 %r4|%p1," + rest + ", %p2;", value);
    for (const bool is_or : {false, true}) {
      const std::string op = is_or ? "lop3.or.b32" : "lop3.and.b32";
      Line line(op + " %r4|%p1," + rest + ", %p2;");
      const uint32_t q = 0xf0f01234, mask = 0xffff00ff, old = 0x0f0f0f0f;
      line.set_word(line.inst().src[4], q);
      line.set_word(line.inst().dst[1], old);
      for (int lane = 0; lane < 32; ++lane) {
        for (int i = 0; i < 3; ++i) line.set(line.inst().src[i], lane, lane % 2 == 0 ? ~0u : 0u);
      }
      line.run(mask);
      const uint32_t result = (table & 0x80 ? 0x55555555u : 0u) | (table & 1 ? 0xaaaaaaaau : 0u);
      const uint32_t p = is_or ? result | q : result & q;
      CHECK(line.word(line.inst().dst[1]) == ((p & mask) | (old & ~mask)));
    }
  }
}

TEST_CASE("core: shl and shr accept counts beyond the width") {
  all_bits([](auto t) {
    using T = decltype(t);
    constexpr uint32_t width = sizeof(T) * 8;
    check_line<T, T, uint32_t>(line<T, T, uint32_t>(bits_type<T>("shl")), [](T a, uint32_t n) {
      return n >= width ? T(0) : static_cast<T>(static_cast<unsigned __int128>(a) << n);
    });
  });
  for_types<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>([](auto t) {
    using T = decltype(t);
    const auto shift = [](T a, uint32_t n) {
      return static_cast<T>(Wide(a) >> std::min(n, static_cast<uint32_t>(sizeof(T) * 8)));
    };
    check_line<T, T, uint32_t>(line<T, T, uint32_t>(typed<T>("shr")), shift);
    if (std::is_unsigned_v<T>) {
      check_line<T, T, uint32_t>(line<T, T, uint32_t>(bits_type<T>("shr")), shift);
    }
  });
  // .b types shift in zeros: they are unsigned.
}

TEST_CASE("core: shf shifts a pair of registers") {
  using U = uint32_t;
  for (const bool wrap : {false, true}) {
    const std::string mode =
        wrap ? ".wrap.b32 %r1, %r2, %r3, %r4;" : ".clamp.b32 %r1, %r2, %r3, %r4;";
    const auto count = [=](U c) { return wrap ? c % 32 : std::min(c, 32u); };
    // Bit i of {b, a}; no bit beyond it is reached.
    const auto bit = [](U a, U b, U i) { return i < 32 ? a >> i & 1 : b >> (i - 32) & 1; };
    check_line<U, U, U, U>("shf.l" + mode, [=](U a, U b, U c) {
      U d = 0;
      for (U i = 0; i < 32; ++i) d |= bit(a, b, 32 + i - count(c)) << i;
      return d;
    });
    check_line<U, U, U, U>("shf.r" + mode, [=](U a, U b, U c) {
      U d = 0;
      for (U i = 0; i < 32; ++i) d |= bit(a, b, i + count(c)) << i;
      return d;
    });
  }
}

TEST_CASE("core: prmt selects bytes and signs, and has named modes") {
  using U = uint32_t;
  const auto byte = [](U a, U b, U n) {
    return (n < 4 ? a >> (8 * n) : b >> (8 * (n - 4))) & 0xff;
  };
  check_line<U, U, U, U>("prmt.b32 %r1, %r2, %r3, %r4;", [=](U a, U b, U c) {
    U d = 0;
    for (U i = 0; i < 4; ++i) {
      const U selector = c >> (4 * i) & 0xf;
      U v = byte(a, b, selector & 7);
      if (selector & 8) v = v >= 0x80 ? 0xff : 0;
      d |= v << (8 * i);
    }
    return d;
  });
  // The tables of the ISA: source bytes d.b3 d.b2 d.b1 d.b0 for c = 0, 1, 2, 3.
  const std::pair<std::string, std::array<std::string, 4>> modes[] = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}},
  };
  for (const auto& [mode, table] : modes) {
    const std::array<std::string, 4> rows = table;
    check_line<U, U, U, U>("prmt.b32." + mode + " %r1, %r2, %r3, %r4;", [=](U a, U b, U c) {
      U d = 0;
      for (U i = 0; i < 4; ++i) d |= byte(a, b, U(rows[c & 3][3 - i] - '0')) << (8 * i);
      return d;
    });
  }
}

TEST_CASE("core: mov copies registers") {
  for_types<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t, float, double>([](auto t) {
    using T = decltype(t);
    check_line<T, T>(line<T, T>(typed<T>("mov")), [](T a) { return a; });
  });
  check_line<uint32_t, uint32_t>("mov.b32 %r1, %r2;", [](uint32_t a) { return a; });
  // A special register is 32 bits wide, even if the destination has 16 bits.
  check_line<uint16_t, uint32_t>("mov.u16 %rs1, %r2;", [](uint32_t a) { return uint16_t(a); });
}

TEST_CASE("core: mov packs and unpacks") {
  using U = uint32_t;
  using H = uint16_t;
  using L = uint64_t;
  check_line<U, H, H>("mov.b32 %r1, {%rs2, %rs3};", [](H a, H b) { return a | U(b) << 16; });
  check_line<L, U, U>("mov.b64 %rd1, {%r2, %r3};", [](U a, U b) { return a | L(b) << 32; });
  check_line<L, H, H, H, H>("mov.b64 %rd1, {%rs2, %rs3, %rs4, %rs5};", [](H a, H b, H c, H d) {
    return a | L(b) << 16 | L(c) << 32 | L(d) << 48;
  });
  check_line<U, L>("mov.b64 {%r1, %r2}, %rd3;", [](L a) { return U(a); });
  check_line<U, L>("mov.b64 {%r1, _}, %rd3;", [](L a) { return U(a); });
  check_line<H, U>("mov.b32 {%rs1, %rs2}, %r3;", [](U a) { return H(a); });

  Line unpack("mov.b64 {_, %r2}, %rd3;");
  for (int lane = 0; lane < 32; ++lane) {
    unpack.set(unpack.inst().dst[1], lane, 7u);
    unpack.set(unpack.inst().src[0], lane, 0x0123456789abcdefull + (L(lane) << 32));
  }
  unpack.run(0xaaaaaaaa);
  for (U lane = 0; lane < 32; ++lane) {
    const U want = lane % 2 == 1 ? 0x01234567u + lane : 7u;
    CHECK(unpack.get<U>(unpack.inst().dst[1], static_cast<int>(lane)) == want);
  }
}

TEST_CASE("core: mov.b128 moves all 128 bits") {
  Line pack("mov.b128 %rq1, {%rd1, %rd2};");
  Line move("mov.b128 %rq1, %rq2;");
  Line unpack("mov.b128 {%rd1, %rd2}, %rq1;");
  struct Quadword {
    uint64_t low, high;
  };
  for (int lane = 0; lane < 32; ++lane) {
    const Quadword v{0x1111111111111111u * static_cast<unsigned>(lane), ~0ull - 1};
    pack.set(pack.inst().src[0], lane, v.low);
    pack.set(pack.inst().src[1], lane, v.high);
    move.set(move.inst().src[0], lane, v);
    move.set(move.inst().dst[0], lane, Quadword{5, 6});
    unpack.set(unpack.inst().src[0], lane, v);
  }
  pack.run(~0u);
  move.run(0xff);
  unpack.run(~0u);
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t low = 0x1111111111111111u * static_cast<unsigned>(lane), high = ~0ull - 1;
    const auto packed = pack.get<Quadword>(pack.inst().dst[0], lane);
    CHECK((packed.low == low && packed.high == high));
    const auto moved = move.get<Quadword>(move.inst().dst[0], lane);
    CHECK((lane < 8 ? moved.low == low && moved.high == high : moved.low == 5 && moved.high == 6));
    CHECK(unpack.get<uint64_t>(unpack.inst().dst[0], lane) == low);
    CHECK(unpack.get<uint64_t>(unpack.inst().dst[1], lane) == high);
  }
}

TEST_CASE("core: nanosleep and nop change nothing") {
  for (const std::string text : {"nanosleep.u32 %r1;", "nop;"}) {
    Line line(text);
    mark_covered(line.instruction());
    if (line.inst().src_count > 0) line.set(line.inst().src[0], 3, 1000u);
    line.run(~0u);
    if (line.inst().src_count > 0) CHECK(line.get<uint32_t>(line.inst().src[0], 3) == 1000u);
    CHECK(line.inst().dst_count == 0);
  }
}
