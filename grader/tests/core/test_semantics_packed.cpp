// The rows of packed integers compared with models that split the words into bytes.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "tests/fixtures/opcode_harness.h"
#include "tests/fixtures/sim_kit.h"

using lab32::tests::check_line;
using lab32::tests::check_refused;

namespace {

using U = uint32_t;
using S = int32_t;

// Element i of `word`, which has 4 / size of them, through memory.
template <class T>
long part(U word, int i) {
  T values[4 / sizeof(T)];
  std::memcpy(values, &word, 4);
  return values[i];
}

template <class T, class F>
U each_part(U a, U b, F f) {
  T values[4 / sizeof(T)];
  for (size_t i = 0; i < 4 / sizeof(T); ++i)
    values[i] = static_cast<T>(f(part<T>(a, static_cast<int>(i)), part<T>(b, static_cast<int>(i))));
  U word;
  std::memcpy(&word, values, 4);
  return word;
}

template <class T>
void check_halves(const std::string& type) {
  check_line<U, U, U>("add." + type + " %r1, %r2, %r3;", [](U a, U b) {
    return each_part<T>(a, b, [](long x, long y) { return x + y; });
  });
  check_line<U, U, U>("min." + type + " %r1, %r2, %r3;", [](U a, U b) {
    return each_part<T>(a, b, [](long x, long y) { return x < y ? x : y; });
  });
  check_line<U, U, U>("max." + type + " %r1, %r2, %r3;", [](U a, U b) {
    return each_part<T>(a, b, [](long x, long y) { return x < y ? y : x; });
  });
}

}  // namespace

TEST_CASE("core: semantics packed: instructions work on halves of a word") {
  check_halves<uint16_t>("u16x2");
  check_halves<int16_t>("s16x2");
}

TEST_CASE("core: semantics packed: a negative result becomes 0, in either order of the words") {
  const auto relu = [](long x) { return x < 0 ? 0 : x; };
  for (const char* type : {"relu.s16x2", "s16x2.relu"}) {
    check_line<U, U, U>("min." + std::string(type) + " %r1, %r2, %r3;", [=](U a, U b) {
      return each_part<int16_t>(a, b, [=](long x, long y) { return relu(x < y ? x : y); });
    });
    check_line<U, U, U>("max." + std::string(type) + " %r1, %r2, %r3;", [=](U a, U b) {
      return each_part<int16_t>(a, b, [=](long x, long y) { return relu(x < y ? y : x); });
    });
  }
  for (const char* type : {"relu.s32", "s32.relu"}) {
    check_line<S, S, S>("min." + std::string(type) + " %r1, %r2, %r3;",
                        [=](S a, S b) { return static_cast<S>(relu(a < b ? a : b)); });
    check_line<S, S, S>("max." + std::string(type) + " %r1, %r2, %r3;",
                        [=](S a, S b) { return static_cast<S>(relu(a < b ? b : a)); });
  }
}

TEST_CASE("core: semantics packed: two words are clamped to a narrower type and packed") {
  const auto kept = [](long v, long least, long most) {
    return static_cast<U>(v < least ? least : v > most ? most : v);
  };
  check_line<U, S, S>("cvt.pack.sat.u16.s32 %r1, %r2, %r3;",
                      [=](S a, S b) { return kept(a, 0, 65535) * 65536 + kept(b, 0, 65535); });
  check_line<U, S, S>("cvt.pack.sat.s16.s32 %r1, %r2, %r3;", [=](S a, S b) {
    return (kept(a, -32768, 32767) * 65536) + (kept(b, -32768, 32767) & 65535);
  });
  check_line<U, S, S, U>("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;", [=](S a, S b, U c) {
    return c * 65536 + kept(a, 0, 255) * 256 + kept(b, 0, 255);
  });
  check_line<U, S, S, U>("cvt.pack.sat.s8.s32.b32 %r1, %r2, %r3, %r4;", [=](S a, S b, U c) {
    return c * 65536 + (kept(a, -128, 127) & 255) * 256 + (kept(b, -128, 127) & 255);
  });
}

TEST_CASE("core: semantics packed: missing types are refused by name") {
  check_refused("min.relu.u32 %r1, %r2, %r3;");
  check_refused("cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4;");
}

// ---------------------------------------------------------------------------------------------
// Video instructions compared with models that split the words, and with results of a GPU.

using lab32::tests::check_line;
using lab32::tests::check_refused;

namespace {

using U = uint32_t;
using Op = long (*)(long, long);

const struct {
  const char* name;
  Op op;
} kOps[] = {
    {"vadd", [](long a, long b) { return a + b; }},
    {"vsub", [](long a, long b) { return a - b; }},
    {"vabsdiff", [](long a, long b) { return a > b ? a - b : b - a; }},
    {"vmin", [](long a, long b) { return a < b ? a : b; }},
    {"vmax", [](long a, long b) { return a < b ? b : a; }},
};

// Element i of `bytes` bytes, extended according to its type.
long part(U word, int i, int bytes, const std::string& type) {
  const bool is_signed = type[1] == 's';
  word >>= 8 * bytes * i;
  if (bytes == 1) return is_signed ? long{static_cast<int8_t>(word)} : long{word & 0xff};
  if (bytes == 2) return is_signed ? long{static_cast<int16_t>(word)} : long{word & 0xffff};
  return is_signed ? long{static_cast<int32_t>(word)} : long{word};
}

long kept(long x, int bytes, const std::string& type) {
  const long steps = 1L << 8 * bytes, least = type[1] == 's' ? -steps / 2 : 0;
  return x < least ? least : x >= least + steps ? least + steps - 1 : x;
}

// C++17 leaves shifts of negative numbers undefined.
long left(long x, long n) { return static_cast<long>(static_cast<unsigned long>(x) << n); }
// The intermediate result has 34 bits, the highest its sign.
long cut(long x) { return left(x, 30) >> 30; }

void check_packed(const std::string& opcode, int bytes, Op op, const std::string& d,
                  const std::string& a, const std::string& b) {
  const std::string operands = " %r1, %r2, %r3, %r4;";
  const auto all = [=](U x, U y, auto change) {
    U word = 0;
    for (int i = 0; i < 4 / bytes; ++i) {
      const long value = change(op(part(x, i, bytes, a), part(y, i, bytes, b)));
      word |= (static_cast<U>(value) & (bytes == 1 ? 0xffu : 0xffffu)) << 8 * bytes * i;
    }
    return word;
  };
  check_line<U, U, U, U>(opcode + d + a + b + operands,
                         [=](U x, U y, U) { return all(x, y, [](long v) { return v; }); });
  check_line<U, U, U, U>(opcode + d + a + b + ".sat" + operands, [=](U x, U y, U) {
    return all(x, y, [=](long v) { return kept(v, bytes, d); });
  });
  check_line<U, U, U, U>(opcode + d + a + b + ".add" + operands, [=](U x, U y, U c) {
    for (int i = 0; i < 4 / bytes; ++i)
      c += static_cast<U>(op(part(x, i, bytes, a), part(y, i, bytes, b)));
    return c;
  });
}

void check_whole(const std::string& opcode, Op op, const std::string& d, const std::string& a,
                 const std::string& b, const std::string& mode = "") {
  const std::string head = opcode + d + a + b;
  // As on an H100: an unsigned result is clamped at 0 only, except in shifts.
  const bool from_below = d == ".u32" && mode.empty();
  const auto value = [=](U x, U y, bool sat) {
    const long v = op(part(x, 0, 4, a), part(y, 0, 4, b));
    return static_cast<U>(!sat ? v : from_below ? std::max(v, 0L) : kept(v, 4, d));
  };
  const bool picks = opcode == "vmin" || opcode == "vmax";
  for (const bool sat : {false, true}) {
    const std::string full = head + (sat ? ".sat" : "") + mode;
    check_line<U, U, U>(full + " %r1, %r2, %r3;", [=](U x, U y) { return value(x, y, sat); });
    check_line<U, U, U, U>(full + ".add %r1, %r2, %r3, %r4;",
                           [=](U x, U y, U c) { return value(x, y, sat) + c; });
    const bool fits = mode.empty() && d == ".s32" && (sat || opcode != "vabsdiff");
    if (!picks && !fits) {
      check_refused(full + ".min %r1, %r2, %r3, %r4;");
      check_refused(full + ".max %r1, %r2, %r3, %r4;");
      continue;
    }
    check_line<U, U, U, U>(full + ".min %r1, %r2, %r3, %r4;", [=](U x, U y, U c) {
      const U first = value(x, y, sat);
      return part(first, 0, 4, d) < part(c, 0, 4, d) ? first : c;
    });
    check_line<U, U, U, U>(full + ".max %r1, %r2, %r3, %r4;", [=](U x, U y, U c) {
      const U first = value(x, y, sat);
      return part(first, 0, 4, d) < part(c, 0, 4, d) ? c : first;
    });
  }
}

}  // namespace

TEST_CASE("core: video instructions compute on two and four elements") {
  const Op average = [](long a, long b) {
    return a + b >= 0 ? (a + b + 1) / 2 : -((1 - a - b) / 2);
  };
  const std::array<std::array<const char*, 3>, 4> types{{{".u32", ".u32", ".u32"},
                                                         {".s32", ".s32", ".s32"},
                                                         {".s32", ".u32", ".s32"},
                                                         {".u32", ".s32", ".u32"}}};
  for (const auto& [d, a, b] : types)
    for (const int bytes : {1, 2}) {
      const std::string elements = bytes == 1 ? "4" : "2";
      for (const auto& [name, op] : kOps) check_packed(name + elements, bytes, op, d, a, b);
      check_packed("vavrg" + elements, bytes, average, d, a, b);
    }
}

TEST_CASE("core: video instructions compare two and four elements") {
  const struct {
    const char* name;
    Op op;
  } comparisons[] = {{".eq", [](long a, long b) { return long{a == b}; }},
                     {".ne", [](long a, long b) { return long{a != b}; }},
                     {".lt", [](long a, long b) { return long{a < b}; }},
                     {".le", [](long a, long b) { return long{a <= b}; }},
                     {".gt", [](long a, long b) { return long{a > b}; }},
                     {".ge", [](long a, long b) { return long{a >= b}; }}};
  for (const auto& [name, op] : comparisons)
    for (const std::string a : {".u32", ".s32"})
      for (const int bytes : {1, 2}) {
        const std::string opcode = (bytes == 1 ? "vset4" : "vset2") + a + ".s32" + name;
        const auto result = [=, op = op](U x, U y, int i) {
          return static_cast<U>(op(part(x, i, bytes, a), part(y, i, bytes, ".s32")));
        };
        check_line<U, U, U, U>(opcode + " %r1, %r2, %r3, %r4;", [=](U x, U y, U) {
          U word = 0;
          for (int i = 0; i < 4 / bytes; ++i) word |= result(x, y, i) << 8 * bytes * i;
          return word;
        });
        check_line<U, U, U, U>(opcode + ".add %r1, %r2, %r3, %r4;", [=](U x, U y, U c) {
          for (int i = 0; i < 4 / bytes; ++i) c += result(x, y, i);
          return c;
        });
      }
}

TEST_CASE("core: video instructions compute on whole words and apply a second operation") {
  for (const auto& [name, op] : kOps) {
    check_whole(name, op, ".s32", ".s32", ".s32");
    check_whole(name, op, ".u32", ".u32", ".u32");
    check_whole(name, op, ".s32", ".u32", ".s32");
    check_whole(name, op, ".u32", ".s32", ".u32");
  }
  for (const std::string a : {".u32", ".s32"}) {
    check_whole(
        "vshl", [](long x, long n) { return cut(left(x, n < 32 ? n : 32)); }, a, a, ".u32",
        ".clamp");
    check_whole(
        "vshl", [](long x, long n) { return cut(left(x, n % 32)); }, ".u32", a, ".u32", ".wrap");
    check_whole(
        "vshr", [](long x, long n) { return n < 32 ? x >> n : x >> 32; }, ".s32", a, ".u32",
        ".clamp");
    check_whole(
        "vshr", [](long x, long n) { return x >> n % 32; }, a, a, ".u32", ".wrap");
  }
}

TEST_CASE("core: video instructions that do not exist are refused") {
  check_refused("vset.u32.u32.lt %r1, %r2, %r3;");
  check_refused("vmad.u32.u32.u32 %r1, %r2, %r3, %r4;");
}

TEST_CASE("core: griddepcontrol: the awaited grid has already ended") {
  using lab32::tests::each;
  const auto o = lab32::tests::finish(R"(
  griddepcontrol.wait;
  griddepcontrol.launch_dependents;
  st.global.u32 [%dst], %t;)");
  CHECK(o.out == each(32, [](uint32_t t) { return t; }));
}

TEST_CASE("core: movmatrix transposes the 8 by 8 halves that a warp holds") {
  using lab32::tests::each;
  // Lane 4r + c holds elements [r][2c] and [r][2c + 1]; each is 8 * row + column here.
  const auto o = lab32::tests::finish(R"(
  shl.b32 %r1, %t, 1;
  add.u32 %r2, %r1, 1;
  shl.b32 %r2, %r2, 16;
  or.b32 %r1, %r1, %r2;
  movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;
  st.global.u32 [%dst], %r3;)");
  CHECK(o.out == each(32, [](uint32_t l) {
          const uint32_t row = l / 4, column = 2 * (l % 4);
          return (8 * column + row) | (8 * (column + 1) + row) << 16;
        }));
}
