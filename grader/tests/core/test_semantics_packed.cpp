// The rows of packed integers against models that take the words apart byte by byte.
#include <doctest/doctest.h>

#include <cstring>

#include "tests/fixtures/opcode_harness.h"

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

TEST_CASE("core: semantics packed: halves of a word") {
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

TEST_CASE(
    "core: semantics packed: two words kept in the range of a narrower type, the first above") {
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

TEST_CASE("core: semantics packed: types that are not there are refused by name") {
  check_refused("min.relu.u32 %r1, %r2, %r3;");
  check_refused("cvt.pack.sat.u4.s32.b32 %r1, %r2, %r3, %r4;");
}
